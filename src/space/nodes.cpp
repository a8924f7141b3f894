#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/text.hpp>
#include <bench/machine/sentinel.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/nodes.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

std::string same_nodes_key(const model::Batch& batch,
                           const std::function<std::string(const std::string&)>& substitute) {
  std::string key(strip(substitute(batch.nodes)));
  for (const char* name : {"partition", "constraint"}) {
    const model::JobSetting* setting = batch.setting(name);
    key += "\n" + (setting ? substitute(setting->text) : std::string());
  }
  return key;
}

std::string nodes_of(const Run& run, const workspace::Workpackage& workpackage) {
  using workspace::State;
  // In other states the sentinel comes from an earlier attempt.
  if (workpackage.state != State::submitted && workpackage.state != State::done &&
      workpackage.state != State::failed)
    return "";
  const auto sentinel = machine::read_sentinel(attempt_on_disk(run, workpackage, "").sentinel);
  return sentinel ? sentinel->nodes : "";
}

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

}  // namespace bench::space
