#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <bench/machine/failed_node.hpp>
#include <bench/run/failed_nodes.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {

std::map<long long, std::vector<std::string>> failed_nodes(
    const std::vector<workspace::Attempt>& attempts) {
  std::map<long long, std::vector<std::string>> nodes;
  for (const workspace::Attempt& attempt : attempts) {
    std::string node = machine::node_in_reason(attempt.reason);
    if (node.empty())
      continue;
    std::vector<std::string>& known = nodes[attempt.workpackage];
    std::erase(known, node);
    known.push_back(std::move(node));
  }
  return nodes;
}

std::vector<std::string> avoidable_nodes(std::vector<std::string> failed, int wanted, int all) {
  if (all == 0)
    return failed;
  const auto most = static_cast<std::size_t>(std::max(0, all - wanted));
  if (failed.size() > most)
    failed.erase(failed.begin(), failed.end() - static_cast<std::ptrdiff_t>(most));
  return failed;
}

}  // namespace bench::run
