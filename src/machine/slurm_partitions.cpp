#include "slurm_partitions.hpp"

#include "ask_program.hpp"
#include "slurm_answers.hpp"
#include "slurm_program.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/machine/partition.hpp>

namespace bench::batch {
namespace {

std::map<std::string, std::string> words_of(const std::string& line) {
  std::map<std::string, std::string> words;
  for (const std::string& word : split_names(line, " "))
    if (const auto equals = word.find('='); equals != std::string::npos)
      words.emplace(word.substr(0, equals), word.substr(equals + 1));
  return words;
}

std::vector<std::string> allowed(const std::string& list) {
  return list == "ALL" || list.empty() || list == "N/A" ? std::vector<std::string>{}
                                                        : split_names(list);
}

int count_of(const std::string& text) {
  return static_cast<int>(parse_integer(text).value_or(0));
}

/// The most that a node of a partition has; 0: unknown.
struct Nodes {
  int gpus = 0;
  int threads_per_core = 0;
};

/// Nodes by partition; sinfo prints a line for each kind of node.
std::map<std::string, Nodes> read_nodes(const std::string& sinfo) {
  std::map<std::string, Nodes> all;
  for (const std::string& line : split(sinfo, "\n"))
    if (const auto fields = split(line, "|"); fields.size() >= 2) {
      Nodes& most = all[fields[0]];
      most.gpus = std::max(most.gpus, gpus_in(fields[1]));
      if (fields.size() > 2)
        most.threads_per_core = std::max(most.threads_per_core, count_of(fields[2]));
    }
  return all;
}

}  // namespace

int gpus_in(const std::string& gres) {
  static const Regex gpu(R"((?:^|,)gpu(?::[^:,()]+)?:(\d+))");
  int sum = 0;
  for (const std::string& count : gpu.find_all(gres))
    sum += count_of(count);
  return sum;
}

std::vector<Partition> read_partitions(const std::string& scontrol, const std::string& sinfo) {
  const std::map<std::string, Nodes> nodes = read_nodes(sinfo);
  std::vector<Partition> all;
  for (const std::string& line : split(scontrol, "\n")) {
    auto words = words_of(line);
    if (words["PartitionName"].empty())
      continue;
    Partition& partition = all.emplace_back();
    partition.name = words["PartitionName"];
    partition.is_default = words["Default"] == "YES";
    // A partition that is down accepts jobs, which then wait.
    partition.takes_jobs = words["State"] != "INACTIVE" && words["State"] != "DRAIN";
    if (const std::string& time = words["MaxTime"]; !time.empty() && time != "UNLIMITED")
      partition.max_time_s = parse_duration_s(time);
    partition.nodes = count_of(words["TotalNodes"]);
    partition.max_nodes = partition.nodes;
    if (const int limit = count_of(words["MaxNodes"]); limit > 0)
      partition.max_nodes = std::min(partition.max_nodes, limit);
    partition.accounts = allowed(words["AllowAccounts"]);
    partition.qos = allowed(words["AllowQos"]);
    if (const auto known = nodes.find(partition.name); known != nodes.end()) {
      partition.most_gpus_per_node = known->second.gpus;
      if (known->second.threads_per_core > 0)
        partition.threads_per_core = known->second.threads_per_core;
    }
  }
  return all;
}

Partitions ask_slurm_partitions(const std::string& cluster) {
  Partitions partitions;
  const ProgramAnswer shown = ask_slurm({"scontrol", "-a", "-o", "show", "partition"}, cluster);
  if (!shown.ok()) {
    partitions.failure = said("scontrol", shown);
    return partitions;
  }
  const ProgramAnswer listed = ask_slurm({"sinfo", "-a", "-h", "-o", "%R|%G|%Z"}, cluster);
  partitions.known = true;
  partitions.all = read_partitions(shown.output, listed.ok() ? listed.output : "");
  return partitions;
}

}  // namespace bench::batch
