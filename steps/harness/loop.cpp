#include "harness/loop.hpp"

#include "harness/arguments.hpp"
#include "harness/device.hpp"
#include "harness/log.hpp"
#include "harness/mllog.hpp"
#include "harness/program.hpp"
#include "harness/progress_log.hpp"
#include "harness/timers.hpp"
#include "harness/trainer.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace bench::steps {
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
