#include "same_nodes.hpp"

#include <string>

#include <fmt/core.h>

#include <bench/evaluate/substitute.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/model/batch.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/space/same_nodes.hpp>
#include <bench/space/variables.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::inspect {

using workspace::State;
using workspace::Workpackage;

namespace {

std::string key_of(const RunView& view, const model::Batch& batch, const Workpackage& workpackage) {
  setup::Variables variables;
  for (auto& [name, value] : view.internal_variables(workpackage))
    variables.emplace(name, value);
  const auto lookup = workflow::lookup_in(variables, workpackage.parameters);
  return job::same_nodes_key(
      batch, [&](const std::string& text) { return evaluate::substitute(text, lookup); });
}

}  // namespace

std::string same_nodes_text(const setup::Run& run, const RunView& view,
                            const Workpackage& workpackage) {
  const auto& batch = run.benchmark.step(workpackage.step)->batch;
  if (!batch || !batch->same_nodes)
    return "";
  const std::string key = key_of(view, *batch, workpackage);
  const Workpackage* first = nullptr;
  for (const Workpackage& other : view.all()) {
    if (other.step != workpackage.step || other.state == State::ready || other.was_never_made() ||
        key_of(view, *batch, other) != key)
      continue;
    if (const std::string nodes = job::nodes_of(run, other); !nodes.empty())
      return fmt::format("{}, those of workpackage {} (`same_nodes`)", nodes, other.id);
    if (other.state == State::submitted && !first)
      first = &other;
  }
  return first ? fmt::format("those of workpackage {} (`same_nodes`), once its job has begun",
                             first->id)
               : "";
}

}  // namespace bench::inspect
