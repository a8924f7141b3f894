#include "ask_program.hpp"

#include <algorithm>
#include <map>
#include <regex>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/execute/slurm_partitions.hpp>

namespace bench::execute {
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

/// The GPUs in a list such as `gpu:a100:4(S:0-3),ipu:4`.
int gpus_in(const std::string& gres) {
  static const std::regex gpu(R"((?:^|,)gpu(?::[^:,()]+)?:(\d+))");
  int sum = 0;
  for (auto at = std::sregex_iterator(gres.begin(), gres.end(), gpu); at != std::sregex_iterator();
       ++at)
    sum += count_of((*at)[1].str());
  return sum;
}

}  // namespace

std::vector<Partition> read_partitions(const std::string& scontrol, const std::string& sinfo) {
  std::map<std::string, int> gpus;
  for (const std::string& line : split(sinfo, "\n"))
    if (const auto bar = line.find('|'); bar != std::string::npos) {
      int& most = gpus[line.substr(0, bar)];
      most = std::max(most, gpus_in(line.substr(bar + 1)));
    }
  std::vector<Partition> all;
  for (const std::string& line : split(scontrol, "\n")) {
    auto words = words_of(line);
    if (words["PartitionName"].empty())
      continue;
    Partition& partition = all.emplace_back();
    partition.name = words["PartitionName"];
    partition.is_default = words["Default"] == "YES";
    // One that is only down takes jobs, which then wait.
    partition.takes_jobs = words["State"] != "INACTIVE" && words["State"] != "DRAIN";
    if (const std::string& time = words["MaxTime"]; !time.empty() && time != "UNLIMITED")
      partition.max_time_s = parse_duration_s(time);
    partition.max_nodes = count_of(words["TotalNodes"]);
    if (const int limit = count_of(words["MaxNodes"]); limit > 0)
      partition.max_nodes = std::min(partition.max_nodes, limit);
    partition.accounts = allowed(words["AllowAccounts"]);
    partition.qos = allowed(words["AllowQos"]);
    if (const auto known = gpus.find(partition.name); known != gpus.end())
      partition.most_gpus_per_node = known->second;
  }
  return all;
}

Partitions ask_partitions() {
  Partitions partitions;
  const ProgramAnswer shown =
      ask_program({"scontrol", "-a", "-o", "show", "partition"}, current_environment());
  if (!shown.ok()) {
    partitions.trouble = fmt::format("scontrol: {}", shown.error);
    return partitions;
  }
  const ProgramAnswer listed =
      ask_program({"sinfo", "-a", "-h", "-o", "%R|%G"}, current_environment());
  partitions.all = read_partitions(shown.output, listed.ok() ? listed.output : "");
  return partitions;
}

}  // namespace bench::execute
