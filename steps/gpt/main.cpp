// gpt: trains a GPT language model and reports how fast. See README.md.

#include "gpt/checkpoint.hpp"
#include "gpt/options.hpp"
#include "gpt/plan.hpp"
#include "gpt/report.hpp"
#include "gpt/training.hpp"
#include "harness/blas.hpp"
#include "harness/communicator.hpp"
#include "harness/device.hpp"
#include "harness/environment.hpp"
#include "harness/interruption.hpp"
#include "harness/log.hpp"
#include "harness/memory.hpp"
#include "harness/metrics_file.hpp"
#include "harness/mllog.hpp"
#include "harness/program.hpp"
#include "harness/ranks.hpp"
#include "harness/timings_file.hpp"

#include <chrono>
#include <cstdint>
#include <iterator>
#include <vector>

#include <c10/core/DeviceGuard.h>

#include <bench/energy/regions/region.hpp>

namespace {

using namespace bench;
using steps::Region;

/// What became of a run.
struct Course {
  std::vector<gpt::Iteration> measured;
  std::int64_t diverged_at = 0;  ///< From 1, warm-up included; 0: it did not.
  bool interrupted = false;      ///< By a signal, see harness/interruption.hpp.

  bool ended_early() const { return diverged_at > 0 || interrupted; }
};

/// Ends early where the time is over, the loss is lost, or a signal has come.
Course train(const gpt::Options& options, gpt::Training& training, gpt::Checkpoints& checkpoints,
             steps::Timers& timers) {
  const auto begin = std::chrono::steady_clock::now();
  const std::chrono::duration<double, std::ratio<60>> most(options.exit_duration_min);
  const auto time_is_over = [&] {
    return most.count() > 0 && training.any_rank(std::chrono::steady_clock::now() - begin >= most);
  };

  gpt::Progress progress(options);
  Course course;
  std::int64_t done = 0;
  const auto iterate = [&] {
    const gpt::Iteration iteration = training.iterate(timers);
    ++done;
    if (iteration.diverged)
      course.diverged_at = done;
    course.interrupted = iteration.interrupted;
    return iteration;
  };
  {
    const energy::Region warmup("warmup");
    while (done < options.common.warmup && !course.ended_early() && !time_is_over())
      iterate();
    if (course.ended_early())
      return course;
    timers.wait();
  }
  timers.begin_epoch();
  steps::mllog("epoch_start", {}, {{"epoch_num", 1}});
  progress.begin();
  do {
    course.measured.push_back(timers.timed(Region::batch, iterate));
    progress.add(course.measured.back(), training.consumed_samples());
    if (!course.ended_early())
      checkpoints.save_if_due(training, std::ssize(course.measured));
  } while (std::ssize(course.measured) < options.common.steps && !course.ended_early() &&
           !time_is_over());
  timers.end_epoch();
  steps::mllog("epoch_stop", {}, {{"epoch_num", 1}});
  progress.end();
  return course;
}

int train_and_report(const gpt::Options& options, const torch::Device& device,
                     steps::Communicator& communicator, steps::TimingsFile& timings) {
  gpt::Checkpoints checkpoints(options, device, communicator);
  gpt::Training training(options, device, communicator);
  checkpoints.load(training);
  gpt::log_dataset(training.data().dataset());
  steps::Timers timers(steps::make_clock(device));
  gpt::mllog_options(options);
  steps::mllog("init_stop");
  steps::mllog("run_start");
  steps::defer_signals();
  const Course course = train(options, training, checkpoints, timers);
  if (!course.measured.empty())  // else it ended in the warm-up
    gpt::log_results(options, timers, course.measured);
  timings.write(timers);
  std::fflush(stdout);  // they count also where the checkpoint fails
  if (course.diverged_at == 0)
    checkpoints.save_last(training);
  checkpoints.log_results();
  if (const auto peak_bytes = steps::peak_memory_bytes(device))
    steps::log_value("peak_memory_bytes", *peak_bytes);
  if (course.interrupted && course.diverged_at == 0) {
    steps::log_value("result", "interrupted");
    return steps::exit_interrupted;
  }
  if (course.diverged_at > 0) {
    steps::log_value("diverged_at_iteration", course.diverged_at);
    steps::log_value("result", "diverged");
    return steps::exit_diverged;
  }
  steps::log_value("result", "ok");
  return steps::exit_ok;
}

int run(int argc, char** argv) {
  gpt::Options options;
  if (!gpt::read_options(argc, argv, options))
    return steps::exit_ok;
  if (options.common.describe) {
    gpt::log_description(options);
    return steps::exit_ok;
  }
  if (options.plan) {
    gpt::log_plan(options);
    return steps::exit_ok;
  }
  steps::choose_blas_kernels(argv);
  const steps::Ranks ranks = steps::find_ranks();
  gpt::set_ranks(options, ranks.size);
  steps::begin_mllog(options.common.mllog && ranks.rank == 0);
  steps::mllog("init_start");
  const torch::Device device = steps::select_device(options.common.device, ranks);
  steps::check_precision(options.common.precision(), device);
  steps::TimingsFile timings(options.common.timings_file, ranks.rank);
  steps::begin_metrics_file(options.common.metrics_file, ranks.rank, ranks.size);

  const c10::DeviceGuard guard(device);
  steps::Communicator communicator(ranks, device, {.operation = options.common.rank_timeout()},
                                   options.common.in_common);
  steps::speak_only_on_rank_0(communicator.rank());
  steps::set_up_environment(options.common, device);
  gpt::log_run(options);
  std::fflush(stdout);  // a killed run still shows what it was

  return communicator.report_failure_to_peers([&] {
    gpt::check_memory(options, device, ranks.local_size.value_or(1));
    return train_and_report(options, device, communicator, timings);
  });
}

}  // namespace

int main(int argc, char** argv) {
  bench::steps::keep_freed_memory();
  return bench::steps::run_program(
      "gpt", [&] { return run(argc, argv); }, "--micro-batch-size");
}
