#include "admission.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/machine/allocation.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/launch.hpp>
#include <bench/machine/platform.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/preflight.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/space/variables.hpp>

namespace bench::run {
namespace {

void check_admitted(const std::string& wanted, const std::vector<std::string>& allowed,
                    const char* what, const std::string& partition) {
  if (wanted.empty() || allowed.empty() || std::ranges::find(allowed, wanted) != allowed.end())
    return;
  throw Error(Id::machine_limit,
              fmt::format("partition {} does not admit the {} '{}'", partition, what, wanted),
              suggestion(wanted, allowed, "it admits: "));
}

void check_known(const std::string& wanted, const std::vector<machine::Partition>& all,
                 const std::string& system) {
  std::vector<std::string> known;
  for (const machine::Partition& one : all)
    known.push_back(one.name);
  for (const std::string& name : split_names(wanted)) {
    if (std::ranges::find(known, name) != known.end())
      continue;
    const std::string near = did_you_mean(name, known);
    throw Error(Id::unknown_name, fmt::format("{} has no partition '{}' here", system, name),
                near.empty() ? "select one with --partition; known: " + join(known, ", ")
                             : near + " (--partition)");
  }
}

/// Compares account and QOS with those that the accounting lists for the user.
void check_association(const machine::SubmissionDefaults& asking, machine::BatchSystem& system) {
  if (asking.account.empty() && asking.qos.empty())
    return;
  std::set<std::string> accounts;
  std::set<std::string> qos;
  for (const machine::Association& one : system.ask_associations()) {
    accounts.insert(one.account);
    if (asking.account.empty() || asking.account == one.account)
      qos.insert(one.qos.begin(), one.qos.end());
  }
  const auto check = [&system](const std::string& wanted, const std::set<std::string>& allowed,
                               const char* what, const char* option) {
    const std::vector<std::string> list(allowed.begin(), allowed.end());
    if (!wanted.empty() && !allowed.empty() && !allowed.contains(wanted))
      throw Error(Id::machine_limit,
                  fmt::format("{} does not let you use the {} '{}'", system.name(), what, wanted),
                  suggestion(wanted, list, "yours: ") + fmt::format(" ({})", option));
  };
  check(asking.account, accounts, "account", "--account");
  check(asking.qos, qos, "QOS", "--qos");
}

/// Nothing is checked where the batch system lists no partitions or did not answer.
/// @throws Error if the partition does not exist, or does not admit the account or the QOS
void check_asking(const space::Run& run, const machine::SubmissionDefaults& asking,
                  machine::BatchSystem& system) {
  const machine::Partitions& partitions = *run.partitions;
  if (!partitions.failure.empty())
    return;
  if (!partitions.known) {
    check_association(asking, system);
    return;
  }
  const machine::Partition* found = space::partition_of(run, asking.partition);
  if (!found && asking.partition.empty())
    throw Error(Id::missing_key, fmt::format("{} has no default partition here", system.name()),
                "select one with --partition");
  check_known(asking.partition, partitions.all, system.name());
  if (!found)
    return;
  if (!found->takes_jobs)
    throw Error(Id::machine_limit,
                fmt::format("partition {} does not accept jobs now", found->name),
                "wait, or select another one with --partition");
  check_admitted(asking.account, found->accounts, "account", found->name);
  check_admitted(asking.qos, found->qos, "QOS", found->name);
  check_association(asking, system);
}

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

void check_partition(const space::Run& run, const space::JobRequest& request, const Place& place) {
  const machine::SubmissionDefaults asking = space::asking_of(request.settings);
  const machine::Partition* found = space::partition_of(run, asking.partition);
  if (!found) {
    if (run.partitions && run.partitions->known && !asking.partition.empty())
      check_known(asking.partition, run.partitions->all, run.platform.scheduler);
    return;
  }
  check_admitted(asking.account, found->accounts, "account", found->name);
  check_admitted(asking.qos, found->qos, "QOS", found->name);
  const machine::Resources resources = request.resources.times(request.pack);
  if (found->max_nodes > 0 && resources.nodes > found->max_nodes)
    throw Error(Id::machine_limit,
                fmt::format("requested {} nodes; partition {} allows {}", resources.nodes,
                            found->name, found->max_nodes),
                "", place);
  if (found->max_time_s && request.time_limit_s > *found->max_time_s)
    throw Error(
        Id::machine_limit,
        fmt::format("requested {}; partition {} allows {}", human_duration(request.time_limit_s),
                    found->name, human_duration(*found->max_time_s)),
        "", place);
  const bool asks = run.platform.gpu_request != machine::GpuRequest::none &&
                    run.platform.gpu_request != machine::GpuRequest::constraint;
  if (asks && found->most_gpus_per_node && resources.gpus_per_node > *found->most_gpus_per_node)
    throw Error(Id::machine_limit,
                fmt::format("requested {} GPUs per node; the nodes of partition {} have {}",
                            resources.gpus_per_node, found->name, *found->most_gpus_per_node),
                "", place);
}

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
