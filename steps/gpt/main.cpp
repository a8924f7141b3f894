// gpt: trains a GPT language model and reports how fast. See README.md.

#include "gpt/checkpoint.hpp"
#include "gpt/options.hpp"
#include "gpt/plan.hpp"
#include "gpt/report.hpp"
#include "gpt/training.hpp"
#include "harness/communicator.hpp"
#include "harness/device.hpp"
#include "harness/environment.hpp"
#include "harness/log.hpp"
#include "harness/program.hpp"
#include "harness/ranks.hpp"
#include "harness/timings_file.hpp"

#include <chrono>
#include <iterator>
#include <vector>

#include <c10/core/DeviceGuard.h>

#include <bench/energy/region.hpp>

namespace {

using namespace bench;
using steps::Region;

/// The iterations that were measured; ends early where the time is over or the loss is lost.
std::vector<gpt::Iteration> train(const gpt::Options& options, gpt::Training& training,
                                  gpt::Checkpoints& checkpoints, steps::Timers& timers) {
  const auto begin = std::chrono::steady_clock::now();
  const std::chrono::duration<double, std::ratio<60>> most(options.exit_duration_min);
  const auto time_is_over = [&] {
    return most.count() > 0 && training.any_rank(std::chrono::steady_clock::now() - begin >= most);
  };

  gpt::Progress progress(options);
  std::vector<gpt::Iteration> measured;
  {
    const energy::Region warmup("warmup");
    for (std::int64_t i = 0; i < options.common.warmup && !time_is_over(); ++i)
      training.iterate(timers);
    timers.begin_epoch();
  }
  progress.begin();
  do {
    measured.push_back(timers.timed(Region::batch, [&] { return training.iterate(timers); }));
    progress.add(measured.back(), training.consumed_samples());
    if (!measured.back().diverged)
      checkpoints.save_if_due(training, std::ssize(measured));
  } while (static_cast<std::int64_t>(measured.size()) < options.common.steps &&
           !measured.back().diverged && !time_is_over());
  timers.end_epoch();
  progress.end();
  return measured;
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
  const steps::Ranks ranks = steps::find_ranks();
  gpt::set_ranks(options, ranks.size);
  const torch::Device device = steps::select_device(options.common.device, ranks);
  steps::check_precision(options.common.precision(), device);
  steps::TimingsFile timings(options.common.timings_file, ranks.rank);

  const c10::DeviceGuard guard(device);
  steps::Communicator communicator(ranks, device);
  steps::speak_only_on_rank_0(communicator.rank());
  steps::set_up_environment(options.common, device);
  gpt::log_run(options);
  std::fflush(stdout);  // a killed run still shows what it was

  gpt::Checkpoints checkpoints(options, device, communicator);
  gpt::Training training(options, device, communicator);
  checkpoints.load(training);
  gpt::log_dataset(training.data().dataset());
  steps::Timers timers(steps::make_clock(device));
  const std::vector<gpt::Iteration> measured = train(options, training, checkpoints, timers);
  gpt::log_results(options, timers, measured);
  std::fflush(stdout);  // they count also where the checkpoint fails
  if (!measured.back().diverged)
    checkpoints.save_last(training);
  checkpoints.log_results();
  if (const auto peak_bytes = steps::peak_memory_bytes(device))
    steps::log_value("peak_memory_bytes", *peak_bytes);
  timings.write(timers);
  if (measured.back().diverged) {
    steps::log_value("diverged_at_iteration", measured.size());
    steps::log_value("result", "diverged");
    return steps::exit_diverged;
  }
  steps::log_value("result", "ok");
  return steps::exit_ok;
}

}  // namespace

int main(int argc, char** argv) {
  bench::steps::keep_freed_memory();
  return bench::steps::run_program("gpt", [&] { return run(argc, argv); });
}
