#include "concurrency.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/machine/systems.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/space/variables.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {
namespace {

int most_running(const model::Step& step) {
  if (step.procs > 0)
    return step.procs;
  return step.work_dir.empty() && step.shared.empty() ? 0 : 1;
}

}  // namespace

Concurrency::Concurrency(const space::Run& run) : run_(run), parallel_(space::parallel_of(run)) {
  for (const model::Step& step : run.benchmark.steps)
    steps_.push_back({.most_running = run::most_running(step), .most_unfinished = {}});
}

void Concurrency::learn(std::size_t index, const workspace::Workpackage& workpackage) {
  Limits& limits = steps_[index];
  if (!limits.most_unfinished)
    limits.most_unfinished = max_async_of(index, workpackage);
}

int Concurrency::max_async_of(std::size_t index, const workspace::Workpackage& workpackage) const {
  const model::Step& step = run_.benchmark.steps[index];
  const space::Variables variables = space::benchmark_variables(run_);
  const std::string text(strip(
      evaluate::substitute(step.max_async, space::lookup_in(variables, workpackage.parameters))));
  const auto limit = parse_integer(text);
  if (!text.empty() && (!limit || *limit < 0))
    throw Error(Id::invalid_value,
                fmt::format("max_async of step '{}' is not an integer: {}", step.name, text), "",
                step.place);
  return static_cast<int>(limit.value_or(0));
}

int Concurrency::limit(std::size_t step) const {
  const int running = most_running(step);
  const int unfinished = most_unfinished(step);
  return running == 0 || unfinished == 0 ? std::max(running, unfinished)
                                         : std::min(running, unfinished);
}

int Concurrency::beside(std::size_t index, const workspace::Workpackage& workpackage) const {
  const model::Step& step = run_.benchmark.steps[index];
  if (space::next_segment(run_.benchmark, step, workpackage.progress).script)
    return 1;
  return parallel_ ? *parallel_ : std::max(1, limit(index));
}

int Concurrency::of_step(std::size_t index) const {
  const model::Step& step = run_.benchmark.steps[index];
  const int most = limit(index);
  const machine::Capabilities& machine = run_.platform.capabilities();
  if (step.batch)
    return machine.queues_jobs || machine.fills_allocation ? most : 1;
  if (!parallel_)
    return std::max(1, most);
  return most == 0 ? *parallel_ : std::min(*parallel_, most);
}

}  // namespace bench::run
