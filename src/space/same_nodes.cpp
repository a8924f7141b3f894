#include <functional>
#include <string>

#include <bench/base/text.hpp>
#include <bench/machine/sentinel.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/run.hpp>
#include <bench/space/same_nodes.hpp>
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
  // In other states a sentinel is of an earlier attempt.
  if (workpackage.state != State::submitted && workpackage.state != State::done &&
      workpackage.state != State::failed)
    return "";
  const auto sentinel = machine::read_sentinel(attempt_on_disk(run, workpackage, "").sentinel);
  return sentinel ? sentinel->nodes : "";
}

}  // namespace bench::space
