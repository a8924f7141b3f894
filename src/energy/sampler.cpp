#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <iterator>
#include <mutex>

#include <sys/prctl.h>

#include <bench/base/time.hpp>
#include <bench/energy/child.hpp>
#include <bench/energy/power_log.hpp>
#include <bench/energy/sampler.hpp>

namespace bench::energy {
namespace {

constexpr std::chrono::seconds driver_patience{2};

double seconds(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

std::chrono::nanoseconds nanoseconds(double s) {
  return std::chrono::nanoseconds(std::llround(s * 1e9));
}

/// One look at all sources. `times` are the middles of the calls that read a channel's source.
struct Row {
  explicit Row(std::size_t channels) : times(channels), readings(channels) {}

  std::vector<Clock::time_point> times;
  std::vector<Reading> readings;
};

Row look(const Sources& sources) {
  Row row(sources.channels.size());
  std::size_t first = 0;
  for (const auto& source : sources.opened) {
    const std::size_t count = source->channels().size();
    const auto before = Clock::now();
    source->read(std::span(row.readings).subspan(first, count));
    const auto middle = before + (Clock::now() - before) / 2;
    std::fill_n(row.times.begin() + static_cast<std::ptrdiff_t>(first), count, middle);
    first += count;
  }
  return row;
}

/// How long the last channels to be complete must be read after the end: an averaging sensor
/// without a counter shows the end of the run only one window later.
double settle_s(const std::vector<Channel>& channels, const std::vector<Reading>& readings) {
  double longest_s = 0;
  for (std::size_t i = 0; i < channels.size(); ++i)
    if (channels[i].additive && !readings[i].energy_j)
      longest_s = std::max(longest_s, channels[i].averaging_window_s);
  return longest_s;
}

}  // namespace

/// Shared between the thread and its owner; the thread may outlive the owner.
struct Sampler::State {
  explicit State(SamplerSettings s) : settings(std::move(s)) {
    if (!settings.power_log.empty())
      log.emplace(settings.power_log, settings.power_layout);
  }

  const SamplerSettings settings;
  std::optional<PowerLog> log;  // the thread's own once it runs

  std::mutex mutex;  // guards all below; never held while a driver or a file is used
  std::condition_variable changed;
  bool ready = false;
  bool cancelled = false;
  bool finished = false;
  std::optional<Clock::time_point> begin;
  std::optional<Clock::time_point> end;
  double settle_s = 0;
  std::vector<ChannelMeter> meters;
  std::vector<Absence> absences;
  std::vector<std::string> notes;
  PowerRange total_power;
  std::uint64_t overruns = 0;
  std::string log_failure;
};

/// What the thread does.
class Sampler::Loop {
 public:
  explicit Loop(std::shared_ptr<State> state) : state_(std::move(state)) {}

  void run() {
    ::prctl(PR_SET_TIMERSLACK, 1UL);  // nanoseconds; the default of 50 us is a twentieth of 1 ms
    std::string failure;
    try {
      open();
      if (wait_for_begin())
        sample();
      if (state_->log)
        state_->log->flush();
    } catch (const std::exception& error) {  // the measurement ends, not the program measured
      failure = error.what();
    }
    const std::lock_guard lock(state_->mutex);
    if (!failure.empty())
      state_->notes.push_back("the sampler stopped: " + failure);
    if (state_->log)
      state_->log_failure = state_->log->failure();
    state_->ready = true;
    state_->finished = true;
    state_->changed.notify_all();
  }

 private:
  void open() {
    sources_ = open_sources(state_->settings.sources);
    baseline_ = look(sources_);
    if (state_->log)
      state_->log->write_header(sources_.channels);
    const std::lock_guard lock(state_->mutex);
    state_->absences = sources_.absences;
    state_->notes = sources_.notes;
    state_->settle_s = settle_s(sources_.channels, baseline_.readings);
    for (const Channel& channel : sources_.channels)
      state_->meters.emplace_back(channel, seconds(state_->settings.interval));
    state_->ready = true;
    state_->changed.notify_all();
  }

  bool wait_for_begin() {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->begin || state_->cancelled; });
    if (state_->cancelled)
      return false;
    begin_ = *state_->begin;
    if (state_->end)  // the sources came up after the program had ended
      close_meters();
    return true;
  }

  void close_meters() {
    for (ChannelMeter& meter : state_->meters)
      meter.close(seconds(*state_->end - begin_));
  }

  void sample() {
    Ticks ticks(Clock::now(), state_->settings.interval);
    take(baseline_);
    for (bool closing = false; !closing;) {
      closing = is_over();
      take(look(sources_));
      if (!closing)
        wait_until(ticks.next(Clock::now()), ticks.overruns());
    }
  }

  /// Sleeps to an absolute deadline on the steady clock. Not by clock_nanosleep, since the end of
  /// the program must wake the thread at once.
  void wait_until(Clock::time_point deadline, std::uint64_t overruns) {
    std::unique_lock lock(state_->mutex);
    state_->overruns = overruns;
    if (!state_->end)
      state_->changed.wait_until(lock, deadline, [&] { return state_->end.has_value(); });
    else if (const auto settled = *state_->end + nanoseconds(state_->settle_s);
             Clock::now() < settled)
      state_->changed.wait_until(lock, std::min(deadline, settled), [] { return false; });
  }

  /// The program has ended and every sensor has had its time to show it.
  bool is_over() {
    const std::lock_guard lock(state_->mutex);
    return state_->end && Clock::now() >= *state_->end + nanoseconds(state_->settle_s);
  }

  /// Hands the readings of one tick to the meters and to the log.
  void take(const Row& row) {
    const double unix_time_s = unix_time_now();
    const double now_s = seconds(Clock::now() - begin_);
    std::vector<std::optional<double>> power_w(row.readings.size());
    bool inside = false;
    {
      const std::lock_guard lock(state_->mutex);
      for (std::size_t i = 0; i < power_w.size(); ++i)
        power_w[i] = state_->meters[i].add(seconds(row.times[i] - begin_), row.readings[i]);
      add_total(power_w);
      inside = &row != &baseline_ && !state_->end;
    }
    if (inside && state_->log)
      state_->log->add(now_s, unix_time_s, power_w);
  }

  void add_total(const std::vector<std::optional<double>>& power_w) {
    double sum_w = 0;
    bool any = false;
    for (std::size_t i = 0; i < power_w.size(); ++i) {
      if (!sources_.channels[i].additive)
        continue;
      if (!power_w[i])
        return;
      sum_w += *power_w[i];
      any = true;
    }
    if (!any)
      return;
    PowerRange& range = state_->total_power;
    range.min_w = std::min(range.min_w.value_or(sum_w), sum_w);
    range.max_w = std::max(range.max_w.value_or(sum_w), sum_w);
  }

  std::shared_ptr<State> state_;
  Sources sources_;
  Row baseline_{0};
  Clock::time_point begin_;
};

Sampler::Sampler(SamplerSettings settings) : state_(std::make_shared<State>(std::move(settings))) {
  const sigset_t before = block_signals();
  thread_ = std::thread([state = state_] { Loop(state).run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Sampler::~Sampler() {
  if (!thread_.joinable())
    return;
  std::unique_lock lock(state_->mutex);
  state_->cancelled = true;
  if (!state_->end)
    state_->end = Clock::now();
  state_->changed.notify_all();
  if (state_->changed.wait_for(lock, driver_patience, [&] { return state_->finished; })) {
    lock.unlock();
    thread_.join();
  } else {
    thread_.detach();
  }
}

bool Sampler::wait_until_ready(std::chrono::nanoseconds at_most) {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, at_most, [&] { return state_->ready; });
}

std::vector<Absence> Sampler::absences() const {
  const std::lock_guard lock(state_->mutex);
  return state_->absences;
}

void Sampler::begin(Clock::time_point time) {
  const std::lock_guard lock(state_->mutex);
  state_->begin = time;
  state_->changed.notify_all();
}

Measurement Sampler::end() {
  std::unique_lock lock(state_->mutex);
  state_->end = Clock::now();
  Measurement result;
  result.duration_s = seconds(*state_->end - *state_->begin);
  for (ChannelMeter& meter : state_->meters)
    meter.close(result.duration_s);
  state_->changed.notify_all();
  const auto patience = driver_patience + std::chrono::duration<double>(state_->settle_s);
  if (!state_->changed.wait_for(lock, patience, [&] { return state_->finished; }))
    result.warnings.push_back("a power source does not answer; its last readings are missing");
  if (!state_->ready)
    result.absences.push_back({"start", "a power source did not come up during the run"});
  for (const ChannelMeter& meter : state_->meters)
    result.channels.push_back(meter.result());
  std::ranges::copy(state_->absences, std::back_inserter(result.absences));
  std::ranges::copy(state_->notes, std::back_inserter(result.warnings));
  if (!state_->log_failure.empty())
    result.warnings.push_back(state_->log_failure);
  result.total_power = state_->total_power;
  result.overruns = state_->overruns;
  if (state_->finished) {
    lock.unlock();
    thread_.join();
  }
  return result;
}

}  // namespace bench::energy
