#include "help.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/help.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unit.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/document/elements.hpp>
#include <bench/numbers/metric.hpp>

namespace bench::cli {
namespace {

/// What `bench help` shows of an element: everything that the table of elements holds.
std::string page_of(const document::ElementKind& element) {
  std::vector<std::string> parts;
  if (!element.details.empty())
    parts.push_back(element.details);
  if (!element.attributes.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const document::AttributeKind& attribute : element.attributes)
      rows.push_back(
          {attribute.name, attribute.type_text(),
           attribute.meaning + (attribute.otherwise.text().empty()
                                    ? ""
                                    : fmt::format(" (default: {})", attribute.otherwise.text()))});
    parts.emplace_back(strip("Attributes:\n" + aligned_lines(rows, "  ")));
  }
  std::string relations;
  if (!element.children.empty())
    relations += fmt::format("Contains: {}\n", join(element.children, ", "));
  if (const auto parents = document::parents_of(element); !parents.empty())
    relations += fmt::format("In: {}\n", join(parents, ", "));
  if (!element.see_also.empty())
    relations += fmt::format("See also: {}.\n", element.see_also);
  if (!relations.empty())
    parts.emplace_back(strip(relations));
  if (!element.example.empty())
    parts.push_back("Example:\n  " + hanging(element.example, 2));
  return join(parts, "\n\n");
}

using numbers::Form;
using numbers::Input;
using numbers::Metric;
using numbers::Quantity;

constexpr auto how_metrics_work =
    R"(A column or key that has one is calculated from other values of its row:
  {metric: speedup, of: time, baseline: {nodes: 1}, per: [model, precision]}
`of` are the inputs in their order: parameters, patterns, or numbers with a unit (312 TFLOP/s).
A pattern with several values, as over iterations, counts with its median; `time_avg` names
another statistic. `baseline` selects the row to compare with; a combination of values of `per`
has its own. {nodes: smallest} takes the smallest number whose row has a value. It is an error if
no row is the baseline, or several rows are.
The inputs need units, and the result has the one that follows from them (see: units).
A failed row has no value. `formula` calculates what no metric does: bandwidth / power.
`bench help metric NAME` shows formula, inputs and source.)";

constexpr auto how_units_work =
    R"(Parameters and patterns have a `unit`: GB/s, images/Wh, MJ*s. * or a blank stands between
factors, / before what divides, ^2 after a power. A calculated column has the unit that follows:
GB/s over W is GB/J. The `unit` of a column converts its values; one that does not fit is an error.
Other words are units of their own: tokens, images, EUR. These have a fixed meaning:)";

/// `bench help` indents them, and so does a page that shows what it prints.
std::string lines_of(std::string_view text, std::size_t indent) {
  constexpr std::size_t width = 92;
  return wrapped(text, indent, width) + "\n";
}

/// As an input file would have it.
std::string example_of(const Metric& metric) {
  std::vector<std::string> of;
  for (const Input& input : metric.forms.back().inputs)
    of.emplace_back(input.quantity == Quantity::flop_rate ? "312 TFLOP/s" : input.name);
  return fmt::format("{{metric: {}, of: {}{}}}", metric.name,
                     of.size() == 1 ? of.front() : "[" + join(of, ", ") + "]",
                     needs_baseline(metric) ? ", baseline: {nodes: 1}, per: model" : "");
}

std::string text_of(const Form& form) {
  std::string text = lines_of(form.formula, 4);
  for (const Input& input : form.inputs) {
    const bool counts = input.quantity == Quantity::number || input.quantity == Quantity::count;
    const std::string quantity(counts && !input.meaning.empty() ? "" : text_of(input.quantity));
    text += fmt::format("  {}: {}{}{}\n", input.name, quantity,
                        quantity.empty() || input.meaning.empty() ? "" : ", ", input.meaning);
  }
  return text;
}

std::string page_of(const Metric& metric) {
  std::string text;
  for (const Form& form : metric.forms)
    text += text_of(form);
  if (!metric.details.empty())
    text += lines_of(metric.details, 0);
  if (!metric.preferred_units.empty())
    text += fmt::format("Unit: {}.\n", join(std::vector<std::string>(metric.preferred_units.begin(),
                                                                     metric.preferred_units.end()),
                                            "*"));
  text += lines_of(fmt::format("Source: {}.", metric.source), 2);
  return text + lines_of("Example: " + example_of(metric), 2);
}

std::string overview() {
  std::vector<std::vector<std::string>> rows;
  for (const Metric& metric : numbers::metrics())
    rows.push_back({std::string(metric.name), std::string(metric.summary)});
  return fmt::format("{}\n\n{}", how_metrics_work, aligned_lines(rows, "  "));
}

/// JUBE's names of topics that have another one here, or are part of one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> names_of_jube{
    {{"directory_structure", "run_directory"}, {"statistical_values", "statistics"}}};

std::string own_name(const std::string& word) {
  for (const auto& [of_jube, own] : names_of_jube)
    if (word == of_jube)
      return std::string(own);
  // JUBE calls the topic of an element `<element>_tag`.
  return word.ends_with("_tag") ? word.substr(0, word.size() - 4) : word;
}

}  // namespace

const std::vector<Topic>& element_topics() {
  static const std::vector<Topic> topics = [] {
    std::vector<Topic> made;
    for (const document::ElementKind& element : document::all_elements())
      made.push_back({element.name, element.meaning, page_of(element)});
    return made;
  }();
  return topics;
}

const std::vector<Topic>& metric_topics() {
  static const std::vector<Topic> topics = [] {
    std::vector<Topic> made{
        {"metric", "numbers calculated from the rows of a table", overview()},
        {"units", "units of values, and their arithmetic",
         fmt::format("{}\n{}\nPrograms also print FLOPS (FLOP/s), FPS (frames/s), sec and day.",
                     how_units_work, lines_of(join(unit::known_names(), " "), 0))}};
    for (const Metric& metric : numbers::metrics())
      made.push_back({std::string(metric.name), std::string(metric.summary), page_of(metric)});
    for (Topic& topic : made)
      topic.text = strip(topic.text);
    return made;
  }();
  return topics;
}

std::array<std::span<const Topic>, 4> all_topics() {
  return {structure_topics(), element_topics(), metric_topics(), concept_topics()};
}

const Topic* find_topic(const std::string& word) {
  const std::string name = own_name(word);
  for (const auto& topics : all_topics())
    for (const Topic& topic : topics)
      if (name == topic.name)
        return &topic;
  return nullptr;
}

std::vector<std::string> topic_names() {
  std::vector<std::string> names;
  for (const auto& topics : all_topics())
    for (const Topic& topic : topics)
      names.push_back(topic.name);
  for (const auto& [of_jube, own] : names_of_jube)
    names.emplace_back(of_jube);
  return names;
}

}  // namespace bench::cli
