#include <algorithm>
#include <string>

#include <bench/model/benchmark.hpp>
#include <bench/model/use.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/inheritance.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/variables.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::workflow {
namespace {

bool varies(const model::Benchmark& benchmark, const model::Step& step) {
  return std::ranges::any_of(step.use, model::depends_on_parameters) ||
         std::ranges::any_of(step.depend, [&](const std::string& parent) {
           return varies(benchmark, *benchmark.step(parent));
         });
}

}  // namespace

Definitions::Definitions(const model::Benchmark& benchmark) : benchmark_(benchmark) {
  for (const model::Step& step : benchmark.steps)
    varies_[step.name] = varies(benchmark, step);
}

const model::Parameter* Definitions::of(const workspace::Workpackage& workpackage,
                                        const std::string& name) const {
  const auto look_up = [&] {
    const setup::Variables none;
    return expand::definition_of(benchmark_, *benchmark_.step(workpackage.step), name,
                                 lookup_in(none, workpackage.parameters));
  };
  if (varies_.at(workpackage.step))
    return look_up();
  const auto [found, is_new] = known_[workpackage.step].try_emplace(name, nullptr);
  if (is_new)
    found->second = look_up();
  return found->second;
}

}  // namespace bench::workflow
