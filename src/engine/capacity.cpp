#include "capacity.hpp"

#include <algorithm>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>

namespace bench::engine {
namespace {

void check_admitted(const std::string& wanted, const std::vector<std::string>& allowed,
                    const char* what, const std::string& partition) {
  if (wanted.empty() || allowed.empty() || std::ranges::find(allowed, wanted) != allowed.end())
    return;
  throw Error(fmt::format("partition {} does not admit the {} '{}'", partition, what, wanted),
              suggestion(wanted, allowed, "it admits: "));
}

void check_known(const std::string& wanted, const std::vector<schedule::Partition>& all) {
  std::vector<std::string> known;
  for (const schedule::Partition& one : all)
    known.push_back(one.name);
  for (const std::string& name : split_names(wanted)) {
    if (std::ranges::find(known, name) != known.end())
      continue;
    const std::string near = did_you_mean(name, known);
    throw Error(fmt::format("Slurm has no partition '{}' here", name),
                near.empty() ? "name one with --partition; known: " + join(known, ", ")
                             : near + " (--partition)");
  }
}

}  // namespace

const schedule::Partition* Capacity::partition() {
  if (run_.platform.scheduler != platform::Scheduler::slurm)
    return nullptr;
  if (!partitions_)
    partitions_ = schedule::ask_partitions();
  // Of several, separated by commas, the job goes to the one that can start it first.
  const std::string& wanted = run_.platform.asking.partition;
  const auto found = std::ranges::find_if(partitions_->all, [&](const auto& one) {
    return wanted.empty() ? one.is_default : one.name == wanted;
  });
  return found == partitions_->all.end() ? nullptr : &*found;
}

void Capacity::check_asking() {
  const platform::Asking& asking = run_.platform.asking;
  const schedule::Partition* found = partition();
  if (!partitions_ || !partitions_->trouble.empty())
    return;
  if (!found && asking.partition.empty())
    throw Error("Slurm has no default partition here", "name one with --partition");
  check_known(asking.partition, partitions_->all);
  if (!found)
    return;
  if (!found->takes_jobs)
    throw Error(fmt::format("partition {} takes no jobs at present", found->name),
                "`scontrol show partition` tells its state; --partition names another one");
  check_admitted(asking.account, found->accounts, "account", found->name);
  check_admitted(asking.qos, found->qos, "QOS", found->name);
}

void Capacity::check(const Geometry& geometry, const Place& place) {
  const schedule::Partition* found = partition();
  if (!found)
    return;
  const platform::Resources resources = geometry.resources.times(geometry.pack);
  if (found->max_nodes > 0 && resources.nodes > found->max_nodes)
    throw Error(fmt::format("{} nodes are asked for, and partition {} gives {}", resources.nodes,
                            found->name, found->max_nodes),
                "", place);
  if (found->max_time_s && geometry.time_limit_s > *found->max_time_s)
    throw Error(fmt::format("{} are asked for, and partition {} gives {}",
                            human_duration(geometry.time_limit_s), found->name,
                            human_duration(*found->max_time_s)),
                "", place);
  const bool asks = run_.platform.gpu_request != platform::GpuRequest::none &&
                    run_.platform.gpu_request != platform::GpuRequest::constraint;
  if (asks && found->most_gpus_per_node && resources.gpus_per_node > *found->most_gpus_per_node)
    throw Error(fmt::format("{} GPUs per node are asked for, and the nodes of partition {} have {}",
                            resources.gpus_per_node, found->name, *found->most_gpus_per_node),
                "", place);
}

}  // namespace bench::engine
