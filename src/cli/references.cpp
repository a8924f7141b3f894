#include "references.hpp"

#include "command.hpp"
#include "evaluation.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/show.hpp>
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
using results::Entry;
using results::Field;
using results::Reference;

/// `--metric total_runtime`: only numbers with one of these texts.
struct Filter {
  Field field;
  std::vector<std::string> texts;
};

struct ReferencesOptions {
  std::vector<std::string> names;
  std::vector<Filter> filters;
  ShowOptions show;
};

bool passes(const Filter& filter, const Entry& entry) {
  const auto is_wanted = [&](const std::string& text) {
    return results::is_same(filter.field, text, entry.text(filter.field)) ||
           (filter.field == Field::platform && text == entry.text(Field::platform_tag));
  };
  return std::ranges::any_of(filter.texts, is_wanted);
}

[[noreturn]] void refuse(const Filter& filter, const std::vector<Reference>& references) {
  std::set<std::string> known;
  std::set<double> counts;
  for (const Reference& reference : references)
    for (const Entry& entry : reference.entries)
      if (const std::string& text = entry.text(filter.field); !text.empty()) {
        known.insert(text);
        if (const auto count = parse_number(text))
          counts.insert(*count);
      }
  std::string hint = suggestion(filter.texts.front(), std::vector(known.begin(), known.end()));
  if (!counts.empty())  // for counts, a did-you-mean makes no sense
    hint = fmt::format("known: {}", fmt::join(counts, ", "));
  throw Error(Id::unknown_name,
              fmt::format("no number here has {} '{}'", results::name_of(filter.field),
                          join(filter.texts, "', '")),
              hint);
}

/// Keeps the numbers that match, and the references that have any. @throws Error with the known
/// values if none is left
void apply(const Filter& filter, std::vector<Reference>& references) {
  if (filter.texts.empty())
    return;
  const std::vector<Reference> before = references;
  for (Reference& reference : references)
    std::erase_if(reference.entries, [&](const Entry& entry) { return !passes(filter, entry); });
  std::erase_if(references, [](const Reference& reference) { return reference.entries.empty(); });
  if (references.empty() && !before.empty())
    refuse(filter, before);
}

int show_references(const ReferencesOptions& options) {
  std::vector<Reference> references;
  for (const std::string& name : options.names.empty() ? results::reference_names() : options.names)
    std::ranges::move(results::find_references(name), std::back_inserter(references));
  for (const Filter& filter : options.filters)
    apply(filter, references);
  results::Table table =
      options.names.empty() ? results::list_of(references) : results::table_of(references);
  results::Report report;
  report.tables.push_back(
      {.table = std::move(table), .style = "pretty", .result_directory = {}, .run_directory = {}});
  std::vector<RunReport> reports;
  reports.push_back({.report = std::move(report)});
  show(reports, false, options.show);
  return 0;
}

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

std::function<int()> declare_references(CLI::App& app) {
  const auto options = std::make_shared<ReferencesOptions>();
  app.add_option("REFERENCE", options->names,
                 "show the numbers of these, each a name, a .csv file or a directory of them; "
                 "without it: list what there is");
  for (const Field field :
       {Field::source, Field::workload, Field::phase, Field::platform, Field::accelerator,
        Field::devices, Field::nodes, Field::batch, Field::metric})
    options->filters.push_back({.field = field, .texts = {}});
  for (Filter& filter : options->filters) {
    const std::string name(results::name_of(filter.field));
    app.add_option("--" + name, filter.texts, fmt::format("only numbers whose {} is TEXT", name))
        ->type_name("TEXT")
        ->allow_extra_args(false);
  }
  declare_style(app, options->show.style, "style of the table");
  declare_columns(app, options->show);
  return [options] { return show_references(*options); };
}

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
