#include "published.hpp"

#include "evaluation.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/platform.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/comparison.hpp>
#include <bench/results/reference.hpp>
#include <bench/results/report.hpp>
#include <bench/results/table.hpp>
#include <bench/space/run.hpp>

namespace bench::cli {
namespace {

using results::Conditions;
using results::Field;

/// The columns of the table that will be built.
std::vector<results::Heading> headings_of(const model::Table& table) {
  std::vector<results::Heading> headings;
  for (const model::Column& column : table.columns)
    headings.push_back({.title = column.title.value_or(column.name),
                        .unit = "",
                        .place = column.place,
                        .name = column.name,
                        .compare = column.compare});
  return headings;
}

/// What the run itself says. A program that runs without a batch system has the devices of the
/// host, else its processor. The platform file of another user's run is not read.
Conditions conditions_of(const Evaluated& evaluated) {
  const space::Run& run = evaluated.run;
  Conditions conditions{{Field::workload, run.benchmark.name}};
  if (run.metadata.platform.empty())
    return conditions;
  conditions[Field::platform] = run.metadata.platform;
  const std::string source = evaluated.own ? space::platform_source(run) : run.metadata.platform;
  const bool is_own_file = evaluated.own && machine::is_platform_file(source);
  if (!is_own_file && machine::platform_of_tag(source).empty())
    return conditions;
  const machine::Platform platform = machine::load_platform(source);
  std::string accelerator = platform.machine.accelerator.name;
  if (!platform.capabilities().queues_jobs) {
    conditions[Field::nodes] = std::string("1");
    for (const char* fact : {"gpus", "cpu"})
      if (const auto found = run.metadata.provenance.find(fact);
          accelerator.empty() && found != run.metadata.provenance.end())
        accelerator = found->second;
  }
  if (!accelerator.empty())
    conditions[Field::accelerator] = accelerator;
  return conditions;
}

}  // namespace

PublishedComparison::PublishedComparison(const std::string& reference)
    : name_(reference), references_(results::find_references(reference)) {}

void PublishedComparison::add_conditions(model::Benchmark& benchmark) {
  for (model::Result& result : benchmark.results)
    for (model::Table& table : result.tables)
      for (const std::string& name : results::missing_conditions(headings_of(table)))
        table.columns.push_back(
            {.name = name, .title = {}, .format = "", .place = table.place, .compare = ""});
}

results::Report PublishedComparison::compared(const Evaluated& evaluated,
                                              const results::Report& report) {
  const Conditions conditions = conditions_of(evaluated);
  results::Report compared;
  for (const results::FilledTable& filled : report.tables) {
    results::Comparison comparison = results::compare(filled.table, conditions, references_);
    if (comparison.table.rows.empty()) {
      std::ranges::move(comparison.reasons, std::back_inserter(reasons_));
      continue;
    }
    any_ = true;
    compared.tables.push_back({.table = std::move(comparison.table),
                               .style = filled.style,
                               .result_directory = {},
                               .run_directory = {}});
  }
  return compared;
}

void PublishedComparison::check_any() const {
  if (any_)
    return;
  if (!reasons_.empty())
    throw Error(Id::no_data, fmt::format("no number can be compared with {}", name_),
                reasons_.front());
  throw Error(Id::unknown_name, fmt::format("no column of the tables is a metric of {}", name_),
              fmt::format("its metrics are {}; `bench help column` explains `compare`",
                          join(results::metrics_of(references_), ", ")));
}

}  // namespace bench::cli
