#include <algorithm>

#include <bench/base/text.hpp>
#include <bench/setup/partition.hpp>

namespace bench::setup {

std::vector<std::string> clusters_of(const platform::Platform& platform) {
  for (const std::string& line : split(platform.directives, "\n")) {
    const auto words = split_names(replace_all(line, "=", " "), " ");
    if (words.empty() || words[0] != "#SBATCH")
      continue;
    for (std::size_t k = 1; k + 1 < words.size() && !words[k].starts_with('#'); ++k)
      if (words[k] == "-M" || words[k] == "--clusters" || words[k] == "--cluster")
        return split_names(words[k + 1]);
  }
  return {};
}

const execute::Partition* partition_of(const Run& run) {
  if (!run.platform.capabilities().tells_limits)
    return nullptr;
  // Of several clusters or partitions, separated by commas, the job goes to the one that can start
  // it first.
  const std::vector<std::string> clusters = clusters_of(run.platform);
  if (clusters.size() > 1)
    return nullptr;
  if (!run.partitions)
    run.partitions = execute::ask_partitions(clusters.empty() ? "" : clusters.front());
  const std::string& wanted = run.platform.asking.partition;
  const auto found = std::ranges::find_if(run.partitions->all, [&](const auto& one) {
    return wanted.empty() ? one.is_default : one.name == wanted;
  });
  return found == run.partitions->all.end() ? nullptr : &*found;
}

}  // namespace bench::setup
