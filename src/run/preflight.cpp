#include "partition_limits.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/allocation.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/machine.hpp>
#include <bench/machine/platform.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/preflight.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/space/variables.hpp>

namespace bench::run {
namespace {

bool is_plain(const model::Batch& batch) {
  const auto holds_names = [](const std::string& text) {
    return text.find('$') != std::string::npos;
  };
  return std::ranges::none_of(
             std::vector<std::string>{batch.nodes, batch.tasks_per_node, batch.threads_per_task,
                                      batch.gpus_per_node, batch.time_limit, batch.pack},
             holds_names) &&
         std::ranges::none_of(batch.settings, holds_names, &model::JobSetting::text) &&
         std::ranges::none_of(batch.options, holds_names, &model::JobSetting::text);
}

bool names(const model::Batch& batch, const std::string& setting) {
  const model::JobSetting* found = batch.setting(setting);
  return found && !found->text.empty();
}

bool has_batch(const model::Step& step) {
  return step.batch.has_value();
}

/// Settings that the machine needs, for the steps that do not name them.
void require_settings(const space::Run& run) {
  const machine::Platform& platform = run.platform;
  const auto lacks = [&](const std::string& setting) {
    return std::ranges::any_of(run.benchmark.steps, [&](const model::Step& step) {
      return step.batch && !names(*step.batch, setting);
    });
  };
  if (platform.account_required && platform.asking.account.empty() && lacks("account"))
    throw Error(Id::missing_key, fmt::format("jobs on {} need an account", platform.name),
                "add --account NAME, or set BENCH_ACCOUNT");
  if (platform.qos_required && platform.asking.qos.empty() && lacks("qos"))
    throw Error(Id::missing_key, fmt::format("jobs on {} need a QOS", platform.name),
                "add --qos NAME, or set BENCH_QOS");
}

/// Of a step without parameters in it.
space::JobRequest request_of(const space::Run& run, const model::Step& step,
                             evaluate::Evaluator& evaluator) {
  return space::job_request_of({.run = run,
                                .step = step,
                                .workpackage = {},
                                .variables = space::benchmark_variables(run),
                                .evaluator = evaluator});
}

/// Where jobs go, and their size. What depends on parameters is checked before each submission.
void check_steps(const space::Run& run, machine::BatchSystem& system) {
  evaluate::Evaluator evaluator = space::evaluator_of(run);
  bool asked = false;
  for (const model::Step& step : run.benchmark.steps) {
    if (!step.batch)
      continue;
    const bool is_general = std::ranges::none_of(
        std::vector<std::string>{"partition", "account", "qos", "reservation"},
        [&](const std::string& setting) { return names(*step.batch, setting); });
    if (is_general && !std::exchange(asked, true))
      check_asking(run, run.platform.asking, system);
    if (!is_plain(*step.batch))
      continue;
    const space::JobRequest request = request_of(run, step, evaluator);
    if (!is_general)
      check_asking(run, space::asking_of(request.settings), system);
    check_partition(run, request, step.batch->place);
  }
}

void notice_unconfirmed(const machine::Platform& platform, std::vector<std::string>& notices) {
  if (platform.status == machine::Status::historic)
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
void notice_packs(const space::Run& run, const std::string& system,
                  std::vector<std::string>& notices) {
  if (!run.platform.capabilities().has_job_steps)
    return;
  for (const model::Step& step : run.benchmark.steps)
    if (step.batch && step.batch->may_pack() &&
        !space::threads_per_core(run, run.platform.asking.partition))
      notices.push_back(fmt::format(
          "warning: neither platform {} nor {} says how many hardware threads a core has: where "
          "there are several, the workpackages of a pack of step '{}' run one after the other, "
          "unless threads_per_task is a multiple of that number",
          run.platform.name, system, step.name));
}

/// Sizes of jobs against the allocation that bench runs in.
void check_allocation(const space::Run& run) {
  if (!run.platform.capabilities().fills_allocation)
    return;
  const machine::Allocation allocation = machine::ask_allocation();
  evaluate::Evaluator evaluator = space::evaluator_of(run);
  for (const model::Step& step : run.benchmark.steps)
    if (step.batch && is_plain(*step.batch))
      run::check_allocation(allocation, request_of(run, step, evaluator), step.batch->place);
}

}  // namespace

void preflight(space::Run& run, std::vector<std::string>& notices) {
  const machine::Platform& platform = run.platform;
  check_allocation(run);
  if (std::ranges::none_of(run.benchmark.steps,
                           [&](const model::Step& step) { return space::is_scheduled(run, step); }))
    return;
  if (const std::string path = run.directory.path.string(); path.find('\n') != std::string::npos)
    throw Error(
        Id::invalid_value,
        fmt::format("job scripts cannot use the run directory: its path contains a line break: {}",
                    path),
        "select another one with --outpath");
  notice_unconfirmed(platform, notices);
  for (const auto& [variable, decides] : machine::idle_variables(platform))
    notices.push_back(fmt::format("{} is ignored: {} takes precedence", variable, decides));
  require_settings(run);
  const auto system = machine::batch_system_of(platform);
  space::ask_partitions(*system, run);
  check_steps(run, *system);
  notice_packs(run, system->name(), notices);
}

void notice_options(const space::Run& run, const machine::SubmissionDefaults& options,
                    std::vector<std::string>& notices) {
  const std::vector<std::pair<const char*, const std::string&>> given{
      {"partition", options.partition},
      {"account", options.account},
      {"qos", options.qos},
      {"reservation", options.reservation}};
  for (const auto& [name, value] : given) {
    if (value.empty())
      continue;
    if (!run.platform.capabilities().queues_jobs)
      throw Error(Id::no_effect,
                  fmt::format("--{} has no effect: platform {} has no batch system", name,
                              run.platform.name),
                  "select a machine with --platform NAME; `bench platforms` lists them");
    if (std::ranges::none_of(run.benchmark.steps, has_batch))
      notices.push_back(fmt::format("--{} has no effect: no step has `batch`", name));
    for (const model::Step& step : run.benchmark.steps)
      if (step.batch && names(*step.batch, name))
        notices.push_back(fmt::format(
            "--{} has no effect on step '{}', which names its own ({}:{})", name, step.name,
            step.batch->setting(name)->place.file, step.batch->setting(name)->place.line));
  }
}

}  // namespace bench::run
