#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/engine/preflight.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/job/job_request.hpp>
#include <bench/job/segment.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/platform/batch_system.hpp>
#include <bench/platform/machine.hpp>
#include <bench/platform/platform.hpp>
#include <bench/scheduler/partition_limits.hpp>
#include <bench/setup/partition.hpp>
#include <bench/setup/run.hpp>
#include <bench/workflow/variables.hpp>

namespace bench::engine {
namespace {

bool is_plain(const model::Batch& batch) {
  return std::ranges::none_of(
      std::vector<std::string>{batch.nodes, batch.tasks_per_node, batch.threads_per_task,
                               batch.gpus_per_node, batch.time_limit, batch.pack},
      [](const std::string& text) { return text.find('$') != std::string::npos; });
}

void notice_unconfirmed(const platform::Platform& platform, std::vector<std::string>& notices) {
  if (platform.status == platform::Status::historic)
    notices.push_back(
        fmt::format("platform {} is historic: the machine no longer accepts jobs", platform.name));
  std::vector<std::string> keys;
  for (const auto& [key, known] : platform.unconfirmed)
    keys.push_back(key);
  if (!keys.empty())
    notices.push_back(
        fmt::format("unconfirmed settings of platform {}: {} (`bench platforms show {}`)",
                    platform.name, join(keys, ", "), platform.name));
}

/// Job steps do not share a core; how many hardware threads one has may be unknown.
void notice_packs(const setup::Run& run, const std::string& system,
                  std::vector<std::string>& notices) {
  if (!run.platform.capabilities().has_job_steps)
    return;
  for (const model::Step& step : run.benchmark.steps)
    if (step.batch && !step.batch->pack.empty() && !job::threads_per_core(run))
      notices.push_back(fmt::format(
          "warning: neither platform {} nor {} says how many hardware threads a core has: where "
          "there are several, the workpackages of a pack of step '{}' run one after the other, "
          "unless threads_per_task is a multiple of that number",
          run.platform.name, system, step.name));
}

}  // namespace

void preflight(setup::Run& run, std::vector<std::string>& notices) {
  const platform::Platform& platform = run.platform;
  if (std::ranges::none_of(run.benchmark.steps,
                           [&](const model::Step& step) { return job::is_scheduled(run, step); }))
    return;
  if (const std::string path = run.directory.path.string(); path.find('\n') != std::string::npos)
    throw Error(
        fmt::format("job scripts cannot use the run directory: its path contains a line break: {}",
                    path),
        "select another one with --outpath");
  notice_unconfirmed(platform, notices);
  for (const auto& [variable, decides] : platform::idle_variables(platform))
    notices.push_back(fmt::format("{} is ignored: {} takes precedence", variable, decides));
  if (platform.account_required && platform.asking.account.empty())
    throw Error(fmt::format("jobs on {} need an account", platform.name),
                "add --account NAME, or set BENCH_ACCOUNT");
  if (platform.qos_required && platform.asking.qos.empty())
    throw Error(fmt::format("jobs on {} need a QOS", platform.name),
                "add --qos NAME, or set BENCH_QOS");
  const auto system = platform::batch_system_of(platform);
  setup::ask_partitions(*system, run);
  scheduler::check_asking(run, *system);
  notice_packs(run, system->name(), notices);
  evaluate::Evaluator evaluator = workflow::evaluator_of(run);
  for (const model::Step& step : run.benchmark.steps)
    if (step.batch && is_plain(*step.batch))
      scheduler::check_partition(
          run,
          job::job_request_of({.run = run,
                               .step = step,
                               .workpackage = {},
                               .variables = workflow::benchmark_variables(run),
                               .evaluator = evaluator}),
          step.batch->place);
}

}  // namespace bench::engine
