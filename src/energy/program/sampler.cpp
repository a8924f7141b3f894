#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
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
#include <bench/base/time.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/core/signals.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/program/power_table.hpp>
#include <bench/energy/program/run_record.hpp>
#include <bench/energy/program/sampler.hpp>
#include <bench/energy/sources/methods.hpp>

namespace bench::energy {

/// What one reading of a source gave.
struct Sample {
  double time_s = 0;
  std::optional<double> wanted_s;  ///< The moment it was planned for; none before the run.
  std::vector<Reading> readings;   ///< By channel.
};

/// What a source's thread has told.
struct SourceState {
  using Values = PowerTable::Values;

  /// Takes the sample and returns the powers to record for it, by channel. With the lock.
  Values add(Sample sample);
  /// Hands what waits to the meters. With the lock.
  void sum_up();

  Method method;
  bool opening = true;
  bool finished = false;
  std::vector<Channel> channels;
  std::vector<Channel> unreadable;   ///< Found besides those.
  std::vector<bool> has_counter;     ///< By channel.
  std::vector<ChannelMeter> meters;  ///< None until it is open.
  std::vector<Sample> waiting;       ///< Not yet with the meters.
  std::optional<Absence> absence;
  std::vector<std::string> notes;
  std::optional<GpuState> gpu_state;
  /// How long it must be read after the end, until its sensors have shown all of the run.
  double settle_s = 0;
  std::uint64_t overruns = 0;
  double paused_s = 0;  ///< Time for which its thread overslept.
};

/// Shared between the sampler and the threads of its sources, which may outlive it.
struct SamplerState {
  explicit SamplerState(SamplerSettings s);

  /// Seconds from the begin of the run, which has begun; without the lock, as `begin` stays then.
  double run_time_s(Clock::time_point time) const;
  /// Records that a source is not read, and why. Takes the lock.
  void leave_out(std::size_t number, const std::string& reason);
  /// Every source has come up, or turned out to be absent. With the lock.
  bool all_opened() const;
  /// Tells which channels are to be added and how long each source settles, and starts the table:
  /// of the sources that have come up so far. With the lock; again when one comes up late, or finds
  /// out more of its channels.
  void connect();
  /// The absent ones of `sources`. With the lock.
  std::vector<Absence> absences() const;

  const SamplerSettings settings;
  PowerTable table;
  std::shared_ptr<RunRecord> record;  ///< Where there is one; not changed once the run has begun.

  std::mutex mutex;  // guards all below; never held while a driver or a file is used
  std::condition_variable changed;
  std::vector<SourceState> sources;
  bool closed = false;  ///< The run is over, and what comes up now is not part of it.
  bool cancelled = false;
  std::optional<Clock::time_point> begin;
  double begin_unix_s = 0;
  std::optional<Clock::time_point> end;
  Event ready;                    ///< Once `all_opened`.
  Event over;                     ///< Once `end` is known.
  std::vector<RegionEdge> edges;  ///< For sources that have no meters yet.
};

/// What the thread of one source does: opens it, reads it at every tick until the run is over, and
/// hands the readings to its meters and to the table.
void run_source(const std::shared_ptr<SamplerState>& state, std::size_t number);

namespace {

/// The meters' memory is cold at each tick where a program computes between two of them. That of so
/// many ticks at once is fetched once.
constexpr std::size_t most_waiting_samples = 32;

/// The meters are not asked for the powers then, and may learn of them later.
bool shows_all_powers(const Sample& sample) {
  return sample.wanted_s && std::ranges::all_of(sample.readings, [](const Reading& reading) {
           return reading.power_w.has_value();
         });
}

/// An averaging sensor without a counter shows the end of the run only one window later.
double settle_s(const SourceState& source) {
  double longest_s = 0;
  for (std::size_t k = 0; k < source.channels.size(); ++k)
    if (source.channels[k].additive && !source.has_counter[k])
      longest_s = std::max(longest_s, source.channels[k].averaging_window_s);
  return longest_s;
}

}  // namespace

SourceState::Values SourceState::add(Sample sample) {
  Values power_w(sample.readings.size());
  if (shows_all_powers(sample)) {
    std::ranges::transform(sample.readings, power_w.begin(), &Reading::power_w);
    waiting.push_back(std::move(sample));
    if (waiting.size() == most_waiting_samples)
      sum_up();
    return power_w;
  }
  sum_up();
  for (std::size_t k = 0; k < power_w.size(); ++k)
    power_w[k] = meters[k].add(sample.time_s, sample.readings[k], sample.wanted_s);
  return power_w;
}

void SourceState::sum_up() {
  for (std::size_t k = 0; k < meters.size(); ++k)
    for (const Sample& sample : waiting)
      meters[k].add(sample.time_s, sample.readings[k], sample.wanted_s);
  waiting.clear();
}

SamplerState::SamplerState(SamplerSettings s)
    : settings(std::move(s)), table(settings.sources.methods.size()) {
  for (const Method& method : settings.sources.methods)
    sources.emplace_back().method = method;
  if (sources.empty())
    ready.happen();
}

double SamplerState::run_time_s(Clock::time_point time) const {
  return std::chrono::duration<double>(time - *begin).count();
}

void SamplerState::leave_out(std::size_t number, const std::string& reason) {
  std::unique_lock lock(mutex);
  SourceState& source = sources[number];
  source.opening = false;
  source.finished = true;
  source.absence = Absence{label_of(source.method), reason, false};
  const bool is_last = all_opened();
  if (is_last && !closed)
    connect();
  changed.notify_all();
  lock.unlock();
  if (is_last)
    ready.happen();
}

bool SamplerState::all_opened() const {
  return std::ranges::none_of(sources, &SourceState::opening);
}

void SamplerState::connect() {
  std::vector<Channel> all;
  for (const auto member : {&SourceState::channels, &SourceState::unreadable})
    for (const SourceState& source : sources)
      std::ranges::copy(source.*member, std::back_inserter(all));
  mark_additive(all, settings.sources.owned);
  auto marked = all.begin();
  for (const auto member : {&SourceState::channels, &SourceState::unreadable})
    for (SourceState& source : sources) {
      const auto next = marked + std::ssize(source.*member);
      (source.*member).assign(marked, next);
      marked = next;
    }
  std::size_t readable = 0;
  for (SourceState& source : sources) {
    for (std::size_t k = 0; k < source.meters.size(); ++k)
      source.meters[k].describe(source.channels[k]);
    source.settle_s = settle_s(source);
    readable += source.channels.size();
  }
  table.start({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(readable)},
              {all.begin() + static_cast<std::ptrdiff_t>(readable), all.end()});
}

std::vector<Absence> SamplerState::absences() const {
  std::vector<Absence> absent;
  for (const SourceState& source : sources)
    if (source.absence)
      absent.push_back(*source.absence);
  return absent;
}

namespace {

constexpr std::chrono::seconds driver_patience{2};

bool all_finished(const SamplerState& state) {
  return std::ranges::all_of(state.sources, &SourceState::finished);
}

void add_results(SourceState& source, Measurement& measurement) {
  std::vector<const ChannelMeter*> meters;
  for (ChannelMeter& meter : source.meters) {
    if (!source.finished)
      meter.give_up("its driver does not answer");
    meters.push_back(&meter);
  }
  std::ranges::move(results_of(meters), std::back_inserter(measurement.channels));
  for (const Channel& channel : source.unreadable)
    measurement.channels.push_back(unreadable_channel(channel, measurement.duration_s));
}

/// One that hangs in a driver is left to itself. With the lock, which is given up.
void end_threads(const SamplerState& state, std::unique_lock<std::mutex>& lock,
                 std::vector<std::thread>& threads) {
  std::vector<bool> finished;
  for (const SourceState& source : state.sources)
    finished.push_back(source.finished);
  lock.unlock();
  for (std::size_t k = 0; k < threads.size(); ++k)
    if (!threads[k].joinable())
      continue;
    else if (finished[k])
      threads[k].join();
    else
      threads[k].detach();
  threads.clear();
}

}  // namespace

Sampler::Sampler(SamplerSettings settings)
    : state_(std::make_shared<SamplerState>(std::move(settings))) {
  for (std::size_t number = 0; number < state_->sources.size(); ++number) {
    threads_.emplace_back();
    const std::string failure =
        start_blocked(threads_.back(), [state = state_, number] { run_source(state, number); });
    if (!failure.empty())
      state_->leave_out(number, "cannot start its thread: " + failure);
  }
}

Sampler::~Sampler() {
  if (threads_.empty())
    return;
  std::unique_lock lock(state_->mutex);
  state_->cancelled = true;
  if (!state_->end)
    state_->end = Clock::now();
  state_->over.happen();
  state_->changed.notify_all();
  state_->changed.wait_for(lock, driver_patience, [&] { return all_finished(*state_); });
  end_threads(*state_, lock, threads_);
}

bool Sampler::is_ready() const {
  return state_->ready.has_happened();
}

bool Sampler::wait_until_ready(std::chrono::nanoseconds at_most) {
  state_->ready.wait_until(Clock::now() + at_most);
  return is_ready();
}

std::vector<Absence> Sampler::absences() const {
  const std::lock_guard lock(state_->mutex);
  return state_->absences();
}

void Sampler::await_log(std::shared_ptr<RunRecord> record) {
  state_->record = record;
  state_->table.await_log(std::move(record));
}

void Sampler::log_to(std::optional<PowerLog> log) {
  state_->table.set_log(std::move(log));
}

void Sampler::begin(Clock::time_point time) {
  const std::chrono::duration<double> ago = Clock::now() - time;
  const std::lock_guard lock(state_->mutex);
  state_->begin_unix_s = unix_time_now() - ago.count();
  state_->table.set_unix_time(state_->begin_unix_s);
  state_->begin = time;
  if (!state_->all_opened())
    state_->connect();  // rows of those that are there do not wait for the others
  state_->changed.notify_all();
}

void Sampler::cut(const RegionEdge& edge) {
  const std::lock_guard lock(state_->mutex);
  bool all = true;
  for (SourceState& source : state_->sources) {
    all = all && (source.finished || !source.meters.empty());
    for (ChannelMeter& meter : source.meters)
      meter.cut(edge);
  }
  if (!all)
    state_->edges.push_back(edge);
}

Measurement Sampler::end(Clock::time_point time) {
  std::unique_lock lock(state_->mutex);
  Measurement result;
  state_->end = time;
  result.duration_s = state_->run_time_s(time);
  result.begin_unix_s = state_->begin_unix_s;
  double settle_s = 0;
  for (SourceState& source : state_->sources) {
    settle_s = std::max(settle_s, source.settle_s);
    for (ChannelMeter& meter : source.meters)
      meter.close(result.duration_s);
  }
  state_->over.happen();
  state_->changed.notify_all();
  const auto patience = driver_patience + std::chrono::duration<double>(settle_s);
  if (!state_->changed.wait_for(lock, patience, [&] { return all_finished(*state_); }))
    for (const SourceState& source : state_->sources)
      if (!source.finished)
        result.warnings.push_back(fmt::format("{} does not answer; its last readings are missing",
                                              label_of(source.method)));
  state_->closed = true;
  result.absences = state_->absences();
  for (SourceState& source : state_->sources) {
    source.sum_up();
    if (source.opening)  // it might have had what the others lack
      result.cut_short =
          label_of(source.method) + ": it did not become ready before the program ended";
    add_results(source, result);
    if (source.gpu_state)
      result.machine.gpu = source.gpu_state;
    std::ranges::copy(source.notes, std::back_inserter(result.warnings));
    result.overruns = std::max(result.overruns, source.overruns);
    result.paused_s = std::max(result.paused_s, source.paused_s);
  }
  end_threads(*state_, lock, threads_);
  state_->table.finish();
  if (const std::string failure = state_->table.failure(); !failure.empty())
    result.warnings.push_back(failure);
  result.total_power = state_->table.total_power();
  return result;
}

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
