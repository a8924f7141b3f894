#include "sampler_state.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/prctl.h>

#include <bench/base/error.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/run_record.hpp>
#include <bench/energy/sources/methods.hpp>

namespace bench::energy {
namespace {

/// A sampler that wakes up later than this was not merely late on a busy machine.
constexpr double shortest_pause_s = 1;

std::chrono::nanoseconds nanoseconds(double s) {
  return std::chrono::nanoseconds(std::llrint(s * 1e9));
}

class SourceThread {
 public:
  SourceThread(std::shared_ptr<SamplerState> state, std::size_t number)
      : state_(std::move(state)), number_(number), mine_(state_->sources[number]) {}

  void run() {
    ::prctl(PR_SET_TIMERSLACK, 1UL);  // nanoseconds; the default of 50 us is a twentieth of 1 ms
    std::string failure;
    try {
      if (open() && wait_for_begin())
        sample();
    } catch (const std::exception& error) {  // the measurement ends, not the program measured
      failure = error.what();
    }
    std::vector<std::string> notes;
    std::optional<GpuState> gpu_state;
    if (source_) {
      notes = source_->notes();  // it may have noticed something during the run
      gpu_state = source_->gpu_state();
    }
    if (const std::string late = lateness(); !late.empty())
      notes.push_back(late);
    source_.reset();  // before it counts as finished: a driver may hang in this, too
    std::unique_lock lock(state_->mutex);
    mine_.notes = std::move(notes);
    mine_.gpu_state = std::move(gpu_state);
    if (!failure.empty())
      mine_.notes.push_back(label_of(mine_.method) + ": the sampler stopped: " + failure);
    mine_.finished = true;
    note_opened(lock);
  }

 private:
  /// `time` is the middle of the call.
  struct Answer {
    Clock::time_point time;
    std::vector<Reading> readings;
  };

  Answer ask() {
    Answer answer{.time = {}, .readings = std::vector<Reading>(source_->channels().size())};
    const auto before = Clock::now();
    source_->read(answer.readings);
    const auto took = Clock::now() - before;
    answer.time = before + took / 2;
    ++reads_;
    reading_s_ += std::chrono::duration<double>(took).count();
    return answer;
  }

  /// With the lock, which is given up first where somebody waits who needs it next.
  void note_opened(std::unique_lock<std::mutex>& lock) {
    const bool was_opening = std::exchange(mine_.opening, false);
    const bool is_last = was_opening && state_->all_opened();
    if (was_opening && !state_->closed && (state_->begin || is_last))
      state_->connect();
    state_->changed.notify_all();
    lock.unlock();
    if (is_last)
      state_->ready.happen();
  }

  bool give_up(const std::string& reason, bool elsewhere) {
    const std::lock_guard lock(state_->mutex);
    mine_.absence = Absence{label_of(mine_.method), reason, elsewhere};
    return false;
  }

  bool open() {
    try {
      source_ = claim_source(mine_.method, state_->settings.sources);
      if (!source_)
        return give_up("another meter on this node measures it", true);
    } catch (const Error& absent) {
      return give_up(absent.message(), false);
    }
    source_->want_counters();
    baseline_ = ask();
    std::unique_lock lock(state_->mutex);
    if (!state_->closed) {
      mine_.channels = source_->channels();
      revision_ = source_->revision();
      mine_.unreadable = source_->unreadable();
    }
    mine_.notes = source_->notes();
    for (const Reading& reading : baseline_.readings)
      mine_.has_counter.push_back(reading.energy_j.has_value());
    for (std::size_t k = 0; k < mine_.channels.size(); ++k) {
      mine_.channels[k].counter_only =
          baseline_.readings[k].energy_j && !baseline_.readings[k].power_w;
      mine_.channels[k].shortest_interval_s = shortest_interval_s();
    }
    state_->table.declare(number_, mine_.channels.size(), is_slow());
    const bool has_channels = !mine_.channels.empty();
    note_opened(lock);
    return has_channels;
  }

  /// Says so where many samples came late because the driver is slow; else empty.
  std::string lateness() const {
    if (!source_ || overruns_ * 10 < reads_)
      return "";
    const double interval_s = std::max(
        std::chrono::duration<double>(state_->settings.interval).count(), shortest_interval_s());
    const double read_s = reading_s_ / static_cast<double>(reads_);
    if (read_s < interval_s / 2)
      return "";
    return fmt::format(
        "{}: {} of {} samples came late: its driver takes {:.3g} ms to answer, and the interval is "
        "{:.3g} ms",
        label_of(mine_.method), overruns_, reads_, read_s * 1e3, interval_s * 1e3);
  }

  double shortest_interval_s() const { return source_->shortest_interval_s(); }
  bool is_slow() const { return nanoseconds(shortest_interval_s()) > state_->settings.interval; }

  /// After the source has told that it is ready, and without the lock as far as it goes, since the
  /// program waits for both.
  void make_meters() {
    const double interval_s = std::max(
        std::chrono::duration<double>(state_->settings.interval).count(), shortest_interval_s());
    std::vector<ChannelMeter> meters;
    meters.reserve(source_->channels().size());
    for (const Channel& channel : source_->channels())
      meters.emplace_back(channel, interval_s, state_->settings.history_points);
    const std::lock_guard lock(state_->mutex);
    for (std::size_t k = 0; k < meters.size(); ++k) {
      meters[k].describe(mine_.channels[k]);
      for (const RegionEdge& edge : state_->edges)
        meters[k].cut(edge);
    }
    mine_.meters = std::move(meters);
  }

  bool wait_for_begin() {
    make_meters();
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->begin || state_->cancelled; });
    if (state_->cancelled)
      return false;
    if (state_->end)  // the source came up after the program had ended
      for (ChannelMeter& meter : mine_.meters)
        meter.close(state_->run_time_s(*state_->end));
    return true;
  }

  void sample() {
    Clock::time_point tick = *state_->begin;
    Ticks ticks(tick, state_->settings.interval, nanoseconds(shortest_interval_s()));
    take(std::move(baseline_), std::nullopt);
    if (Clock::now() > tick + state_->settings.interval)  // it came up late
      tick = ticks.next(Clock::now());
    for (bool closing = false; !closing;) {
      closing = is_over();
      if (closing)
        source_->want_counters();
      take(ask(), tick);
      if (closing)
        break;
      tick = ticks.next(Clock::now());
      overruns_ = ticks.overruns();
      wait_until(tick);
      note_pause(tick);
    }
    const std::lock_guard lock(state_->mutex);
    mine_.sum_up();
  }

  /// Sleeps to an absolute deadline on the steady clock. The end of the program wakes the thread at
  /// once, and again when its sensors have had their time to show it.
  void wait_until(Clock::time_point deadline) {
    if (!state_->over.has_happened())
      state_->over.wait_until(deadline);
    else if (const auto settled = settled_at(); Clock::now() < settled)
      std::this_thread::sleep_until(std::min(deadline, settled));
  }

  /// This thread sleeps to its deadline; much longer only if the process was stopped, or got no
  /// processor.
  void note_pause(Clock::time_point deadline) {
    const double late_s = std::chrono::duration<double>(Clock::now() - deadline).count();
    if (late_s < shortest_pause_s)
      return;
    const std::lock_guard lock(state_->mutex);
    mine_.paused_s += late_s;
  }

  /// After the program has ended.
  Clock::time_point settled_at() const {
    const std::lock_guard lock(state_->mutex);
    return *state_->end + nanoseconds(mine_.settle_s);
  }

  /// The program has ended and every sensor has had its time to show it.
  bool is_over() const { return state_->over.has_happened() && Clock::now() >= settled_at(); }

  /// @param tick none: before the run, which only a counter's difference needs
  void take(Answer answer, std::optional<Clock::time_point> tick) {
    const double time_s = state_->run_time_s(answer.time);
    const bool inside = tick && !state_->over.has_happened();
    if (inside)
      record_counters(time_s, answer.readings);
    PowerTable::Values power_w;
    {
      const std::lock_guard lock(state_->mutex);
      power_w =
          mine_.add({.time_s = time_s,
                     .wanted_s = tick ? std::optional(state_->run_time_s(*tick)) : std::nullopt,
                     .readings = std::move(answer.readings)});
      mine_.overruns = overruns_;
      if (std::exchange(revision_, source_->revision()) != source_->revision())
        learn_channels();
    }
    if (inside)
      state_->table.add(number_, *tick, time_s, std::move(power_w));
  }

  /// With the lock.
  void learn_channels() {
    if (state_->closed)
      return;
    for (std::size_t k = 0; k < mine_.channels.size(); ++k)
      mine_.channels[k].mirror_of = source_->channels()[k].mirror_of;
    state_->connect();
  }

  void record_counters(double time_s, std::span<const Reading> readings) {
    if (state_->record && time_s >= counters_due_s_ &&
        state_->record->add_counters(time_s, source_->channels(), readings))
      counters_due_s_ = next_counters_s(time_s);
  }

  std::shared_ptr<SamplerState> state_;
  std::size_t number_;
  SourceState& mine_;
  std::unique_ptr<PowerSource> source_;
  Answer baseline_;
  std::size_t revision_ = 0;  ///< The source's, as last told to the others.
  std::uint64_t overruns_ = 0;
  std::uint64_t reads_ = 0;
  double reading_s_ = 0;       ///< All readings together.
  double counters_due_s_ = 0;  ///< In the record of the run.
};

}  // namespace

void run_source(const std::shared_ptr<SamplerState>& state, std::size_t number) {
  try {
    SourceThread(state, number).run();
  } catch (const std::exception&) {  // out of memory, maybe for what follows, too
    try {
      state->leave_out(number, "the sampler stopped: out of memory");
    } catch (const std::exception&) {
    }
  }
}

}  // namespace bench::energy
