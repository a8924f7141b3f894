#include "harness/loop.hpp"

#include "harness/arguments.hpp"
#include "harness/device.hpp"
#include "harness/errors.hpp"
#include "harness/log.hpp"
#include "harness/timers.hpp"
#include "harness/trainer.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <torch/csrc/autograd/profiler_kineto.h>

namespace bench::steps {
namespace {

namespace profiler = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;

struct Microseconds {
  double begin;
  double duration;
};

Microseconds times_of(const profiler::KinetoEvent& event) {
#if BENCH_TORCH_AT_LEAST(2, 4)
  constexpr double nanosecond_us = 1e-3;
  return {static_cast<double>(event.startNs()) * nanosecond_us,
          static_cast<double>(event.durationNs()) * nanosecond_us};
#else
  return {static_cast<double>(event.startUs()), static_cast<double>(event.durationUs())};
#endif
}

/// A complete event. Operations of the host are in the rows of their threads, kernels in those of
/// their streams.
std::string trace_event(const profiler::KinetoEvent& event, int rank) {
  const bool on_host = event.deviceType() == c10::DeviceType::CPU;
  const auto [begin, duration] = times_of(event);
  return fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}}})",
      on_host ? "cpu_op" : "kernel", json_string(event.name()), rank,
      on_host ? fmt::format("{}", event.startThreadId())
              : fmt::format(R"("stream {}")", event.deviceResourceId()),
      begin, duration);
}

}  // namespace

Profiler::Profiler(const std::string& file, const torch::Device& device, int rank)
    : file_(file, "--profile", rank), device_(device), rank_(rank) {}

void Profiler::start() {
  std::set<ActivityType> activities{ActivityType::CPU};
  if (device_.is_cuda())
    activities.insert(ActivityType::CUDA);
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(config, activities);
}

void Profiler::write() {
  const std::unique_ptr<profiler::ProfilerResult> result = profiler::disableProfiler();
  std::ostream& out = file_.out();
  out << "{\"traceEvents\": [";
  const char* separator = "\n";
  for (const profiler::KinetoEvent& event : result->events()) {
    out << separator << trace_event(event, rank_);
    separator = ",\n";
  }
  out << "\n]}\n";
  file_.close();
}

bool has_line(std::int64_t step, std::int64_t offset) {
  const std::int64_t interval = step <= 1000 ? 10 : step <= 10'000 ? 100 : 1000;
  return step == 1 || step % interval == offset;
}

void StepClock::skip(double seconds) {
  since_ += std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
}

double StepClock::take_s() {
  const auto now = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(now - std::exchange(since_, now)).count();
}

void StepLines::begin() {
  clock_.begin();
}

void StepLines::add(const LoggedStep& step) {
  ++step_;
  loss_ = step.result.loss;
  if (has_line(step_))
    print();
}

void StepLines::end(double) {
  if (printed_ < step_)
    print();
}

void StepLines::print() {
  const double step_s = clock_.take_s() / static_cast<double>(step_ - printed_);
  fmt::print("step {}/{} | loss {:.6g} | {:.4g} samples/s | {:.4g} s/step\n", step_, steps_, loss_,
             static_cast<double>(global_batch_) / step_s, step_s);
  std::fflush(stdout);  // whoever waits for hours wants to see it
  printed_ = step_;
}

namespace {

constexpr std::int64_t profiled_steps = 3;

}  // namespace

void set_epoch_length(CommonArguments& arguments, std::int64_t global_batch,
                      std::optional<std::uint64_t> samples_per_epoch) {
  if (arguments.epochs == 0 && arguments.samples_per_epoch == 0)
    return;
  if (arguments.samples_per_epoch == 0) {
    if (!samples_per_epoch)
      throw UsageError("an epoch of synthetic samples has no length",
                       "add --samples-per-epoch, or use --steps instead of --epochs");
    arguments.samples_per_epoch = static_cast<std::int64_t>(*samples_per_epoch);
  }
  arguments.steps_per_epoch = (arguments.samples_per_epoch + global_batch - 1) / global_batch;
  log_value("samples_per_epoch", arguments.samples_per_epoch);
  log_value("steps_per_epoch", arguments.steps_per_epoch);
  if (arguments.epochs > 0) {
    arguments.steps = arguments.epochs * arguments.steps_per_epoch;
    log_value("steps", arguments.steps);
  }
}

std::int64_t steps_of_epochs(const CommonArguments& arguments, std::int64_t epochs) {
  if (epochs > 0 && arguments.steps_per_epoch == 0)
    throw UsageError("there are no epochs for --eval-epochs",
                     "give --epochs more than 0, or use --eval-interval");
  return epochs * arguments.steps_per_epoch;
}

LoopOptions loop_options(const CommonArguments& arguments) {
  if (arguments.epochs > 0 && arguments.steps_per_epoch == 0)
    throw UsageError("epochs have no length here", "use --steps instead of --epochs");
  return {.warmup = arguments.warmup,
          .steps = arguments.steps,
          .steps_per_epoch = arguments.steps_per_epoch,
          .time_limit_s = arguments.time_limit_s,
          .profile_file = arguments.profile_file};
}

Loop::Loop(Timers& timers, Trainer& trainer, ProgressLog& log, const LoopOptions& options)
    : timers_(timers),
      trainer_(trainer),
      log_(log),
      options_(options),
      replay_(trainer.graphs()),
      profiler_(options.profile_file, trainer.context().device, trainer.context().ranks.rank()) {}

void Loop::after(const std::string& name, std::int64_t interval, std::function<void()> work) {
  hooks_.push_back({name, interval, std::move(work)});
}

bool Loop::next() {
  if (phase_ == Phase::not_begun)
    begin();
  else
    end_step();
  if (phase_ == Phase::warmup && (steps_ == options_.warmup || ended_early())) {
    take_all();
    warmup_region_.reset();
    if (!ended_well())
      phase_ = Phase::ended;
    else
      begin_epoch();
  } else if (phase_ == Phase::epoch && epoch_is_over()) {
    end_epoch();
    if (measured_ < options_.steps && !ended_early())
      begin_epoch();
    else
      end_measured();
  } else if (phase_ == Phase::profile && profiled_ == profiled_steps) {
    timers_.wait();
    profiler_.write();
    phase_ = Phase::ended;
  }
  if (phase_ == Phase::ended)
    return false;
  timers_.begin_batch();
  return true;
}

void Loop::begin() {
  begin_ = std::chrono::steady_clock::now();
  warmup_region_.emplace("warmup");
  phase_ = Phase::warmup;
}

void Loop::begin_epoch() {
  phase_ = Phase::epoch;
  ++epochs_;
  if (epochs_ == 1)
    reset_peak_memory(trainer_.context().device);
  timers_.begin_epoch();
  mllog("epoch_start", {}, {{"epoch_num", epochs_}});
  log_.begin();
}

void Loop::end_epoch() {
  timers_.end_epoch();
  take_all();
  log_.end(timers_.samples_s(Region::epoch).back());
  run_hooks(true);
  mllog("epoch_stop", {}, {{"epoch_num", epochs_}});  // an evaluation belongs to its epoch
}

void Loop::end_measured() {
  const bool profiles = profiler_.is_wanted() && !ended_early();
  phase_ = profiles ? Phase::profile : Phase::ended;
  if (profiles)
    profiler_.start();
}

std::int64_t Loop::whole_epochs() const {
  return options_.steps_per_epoch > 0 ? measured_ / options_.steps_per_epoch : epochs_;
}

bool Loop::epoch_is_over() const {
  const std::int64_t per_epoch = options_.steps_per_epoch;
  return measured_ == options_.steps || (per_epoch > 0 && measured_ % per_epoch == 0) ||
         ended_early();
}

bool Loop::time_is_over() const {
  const std::chrono::duration<double> most(options_.time_limit_s);
  return most.count() > 0 && std::chrono::steady_clock::now() - begin_ >= most;
}

void Loop::update() {
  timers_.timed(Region::comm, [&] { trainer_.wait_for_gradients(time_is_over()); });
  timers_.timed(Region::optimizer, [&] { replay_.part([&] { trainer_.update_weights(); }); });
}

void Loop::update(Trainer& other) {
  timers_.timed(Region::comm, [&] { other.wait_for_gradients(); });
  timers_.timed(Region::optimizer, [&] { other.update_weights(); });
  other.end_step();
  const auto result = other.newest_result();
  if (result && result->diverged && !diverged_at_)
    diverged_at_ = steps_ + 1;
}

void Loop::end_step() {
  trainer_.end_step();
  timers_.end_batch();
  replay_.end_step();
  ++steps_;
  measured_ += phase_ == Phase::epoch ? 1 : 0;
  profiled_ += phase_ == Phase::profile ? 1 : 0;
  steps_io_s_.push_back(std::exchange(io_s_, 0));
  if (const auto result = trainer_.newest_result())
    take(*result);
  if (phase_ == Phase::epoch && !ended_early())
    run_hooks(false);
}

/// Waits for the device.
void Loop::take_all() {
  while (const auto result = trainer_.await_result())
    take(*result);
}

void Loop::take(const StepResult& result) {
  ++known_;
  const double io_s = steps_io_s_.front();
  steps_io_s_.pop_front();
  if (phase_ == Phase::profile)
    return;
  first_loss_ = first_loss_.value_or(result.loss);
  final_loss_ = result.loss;
  if (result.diverged && !diverged_at_)
    diverged_at_ = known_;
  interrupted_ = interrupted_ || result.interrupted;
  time_is_over_ = time_is_over_ || result.time_is_over;
  if (phase_ != Phase::epoch)
    return;
  results_.push_back(result);
  log_.add({.result = result, .io_s = io_s});
}

void Loop::run_hooks(bool epoch_has_ended) {
  for (const Hook& hook : hooks_)
    if (hook.interval == 0 ? epoch_has_ended : !epoch_has_ended && measured_ % hook.interval == 0) {
      timers_.aside(hook.name, hook.work);
      log_.paused(timers_.asides_s(hook.name).back());
    }
}

}  // namespace bench::steps
