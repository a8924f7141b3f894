#include "points.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/markdown.hpp>
#include <bench/base/text.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/share/formats.hpp>
#include <bench/space/metadata.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::formats {
namespace {

using workspace::State;
using workspace::StepCounts;
using workspace::Workpackage;

constexpr std::size_t most_failures = 20;

std::string cell(const std::string& text) {
  return markdown_text(with_visible_controls(one_line(text)));
}

std::string state_of(const std::vector<StepCounts>& counts) {
  long long failed = 0;
  long long open = 0;
  for (const StepCounts& one : counts) {
    failed += one.failed;
    open += one.all() - one.ended();
  }
  return open > 0 ? "not finished" : failed > 0 ? "failed" : "done";
}

std::vector<StepCounts> counts_of(const Subject& subject) {
  std::vector<StepCounts> counts;
  for (const model::Step& step : subject.run.benchmark.steps) {
    StepCounts one{.step = step.name};
    for (const Workpackage& workpackage : subject.tidy.workpackages)
      if (workpackage.step == step.name)
        ++one.of(workpackage.state);
    if (one.all() > 0)
      counts.push_back(one);
  }
  return counts;
}

std::string counts_table(const std::vector<StepCounts>& counts) {
  std::string text = "| step | done | failed | skipped | open |\n|---|--:|--:|--:|--:|\n";
  for (const StepCounts& one : counts)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", cell(one.step), one.done, one.failed,
                        one.skipped, one.all() - one.ended());
  return text;
}

std::string failures_table(const Subject& subject) {
  const auto names = distinctions(subject);
  std::string rows;
  std::size_t count = 0;
  for (std::size_t k = 0; k < subject.tidy.workpackages.size(); ++k) {
    const Workpackage& one = subject.tidy.workpackages[k];
    if (one.state == State::failed && ++count <= most_failures)
      rows += fmt::format("| {} | {} | {} | {} |\n", one.id, cell(one.step),
                          cell(join(names[k], " ")), cell(one.reason));
  }
  if (count == 0)
    return "";
  std::string text =
      "\n### Failures\n\n| workpackage | step | parameters | reason |\n|--:|---|---|---|\n" + rows;
  if (count > most_failures)
    text += fmt::format("\n{} more failed.\n", count - most_failures);
  return text;
}

}  // namespace

std::string summary(const Subject& subject) {
  const setup::RunMetadata& metadata = subject.run.metadata;
  const auto counts = counts_of(subject);
  std::string text =
      fmt::format("## {}: run {} {}\n\n", cell(metadata.benchmark), metadata.id, state_of(counts));
  text += fmt::format("Started {} on platform {}", setup::start_in_utc(metadata),
                      cell(metadata.platform));
  if (const auto host = metadata.provenance.find("host"); host != metadata.provenance.end())
    text += fmt::format(", host {}", cell(host->second));
  text += ".\n\n" + counts_table(counts) + failures_table(subject);
  if (!subject.baseline.empty())
    text += "\n### Baseline\n\n" + subject.baseline;
  if (!subject.tables.empty())
    text += "\n### Results\n\n" + subject.tables;
  return text;
}

}  // namespace bench::formats
