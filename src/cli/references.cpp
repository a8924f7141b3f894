#include "command.hpp"

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
#include <bench/results/comparison.hpp>
#include <bench/results/reference.hpp>
#include <bench/results/report.hpp>
#include <bench/results/table.hpp>

namespace bench::cli {
namespace {

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

}  // namespace bench::cli
