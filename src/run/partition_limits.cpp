#include "partition_limits.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/launch.hpp>
#include <bench/machine/platform.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/run.hpp>

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

}  // namespace

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

}  // namespace bench::run
