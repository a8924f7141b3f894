#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/cli/output/difference_text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/difference.hpp>
#include <bench/results/table.hpp>

namespace bench::cli {
namespace {

using inspect::Differences;
using inspect::LonePoint;
using inspect::MetricDifference;
using inspect::MetricSummary;
using inspect::TextDifference;

std::string number_text(double value) {
  return fmt::format("{:.4g}", value);
}

std::string percent_text(std::optional<double> relative) {
  return relative ? fmt::format("{:+.1f} %", *relative * 100) : "";
}

/// As many digits as tell runs apart; json and csv have all of them.
std::string value_text(const std::optional<Value>& value) {
  if (!value)
    return "n/a";
  const auto* real = std::get_if<double>(&*value);
  return real ? fmt::format("{:.6g}", *real) : to_text(*value);
}

std::string with_unit(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : fmt::format("{}[{}]", name, unit);
}

/// Rows under a title, the first of them where there are too many.
class Section {
 public:
  Section(std::string title, std::vector<std::string> headings, bool all)
      : title_(std::move(title)), headings_(std::move(headings)), all_(all) {}

  void add(std::vector<std::string> row) {
    if (all_ || rows_.size() < most)
      rows_.push_back(std::move(row));
    else
      ++left_out_;
  }

  std::string text() const {
    if (rows_.empty())
      return "";
    std::string text = fmt::format("\n{}\n{}", title_, text_table(headings_, rows_));
    if (left_out_ > 0)
      text += fmt::format("and {} more; --all shows them\n", left_out_);
    return text;
  }

 private:
  static constexpr std::size_t most = 20;
  std::string title_;
  std::vector<std::string> headings_;
  bool all_;
  std::vector<std::vector<std::string>> rows_;
  std::size_t left_out_ = 0;
};

std::string points_text(const Differences& differences, bool all) {
  Section section("points in only one run", {"run", "step", "point", "workpackages"}, all);
  for (const LonePoint& point : differences.points)
    section.add({point.in_a ? "a" : "b", point.step, parameters_text(point.parameters),
                 std::to_string(point.workpackages)});
  return section.text();
}

std::string states_text(const Differences& differences, bool all) {
  Section section("states", {"step", "point", "a", "b"}, all);
  for (const inspect::StateDifference& state : differences.states)
    section.add({state.pair.step, parameters_text(state.pair.parameters),
                 fmt::format("{} {}", state.pair.a, state.a),
                 fmt::format("{} {}", state.pair.b, state.b)});
  return section.text();
}

std::string metrics_text(const Differences& differences, bool all) {
  Section section("metrics, largest difference first",
                  {"step", "point", "metric", "a", "b", "b - a", "relative"}, all);
  for (const MetricDifference& metric : differences.metrics)
    section.add({metric.pair.step, parameters_text(metric.pair.parameters),
                 with_unit(metric.name, metric.unit), value_text(metric.a), value_text(metric.b),
                 metric.difference ? number_text(*metric.difference) : "",
                 percent_text(metric.relative)});
  return section.text();
}

std::string summaries_text(const Differences& differences) {
  Section section("all metrics", {"metric", "pairs", "differ", "least", "median", "most"}, true);
  for (const MetricSummary& summary : differences.summaries)
    section.add({with_unit(summary.name, summary.unit), std::to_string(summary.pairs),
                 std::to_string(summary.different), percent_text(summary.least),
                 percent_text(summary.median), percent_text(summary.most)});
  return section.text();
}

result::Cell text_cell(const std::string& text) {
  return {.value = text};
}

result::Cell number_cell(std::optional<double> number) {
  result::Cell cell;
  if (number)
    cell.value = *number;
  return cell;
}

}  // namespace

std::string in_one_line(const std::string& text) {
  constexpr std::size_t most = 60;
  if (text.empty())
    return "-";
  const std::string line = replace_all(text, "\n", " ");
  return display_width(line) <= most ? line : to_valid_utf8(line.substr(0, most - 2)) + "..";
}

std::string difference_text(const Differences& differences, const ComparedNames& names, bool all) {
  std::string text = fmt::format("a: {}\nb: {}\n", names.a, names.b);
  Section provenance("provenance", {"what", "a", "b"}, true);
  for (const TextDifference& fact : differences.provenance)
    provenance.add({fact.name, in_one_line(fact.a), in_one_line(fact.b)});
  Section parameters("parameters", {"step", "parameter", "a", "b"}, true);
  for (const TextDifference& one : differences.parameters)
    parameters.add({one.step, one.name, in_one_line(one.a), in_one_line(one.b)});
  text += provenance.text() + parameters.text() + points_text(differences, all) +
          states_text(differences, all) + metrics_text(differences, all) +
          summaries_text(differences);
  return text + fmt::format("\n{} of workpackages at the same point{}\n",
                            plural(differences.pairs, "pair"),
                            differences.any() ? "" : "; only the provenance differs");
}

result::Table difference_table(const Differences& differences) {
  result::Table table;
  table.name = "differences";
  for (const char* title :
       {"what", "step", "point", "name", "unit", "a", "b", "difference", "relative"})
    table.headings.push_back({.title = title});
  const auto add = [&](const char* what, const std::string& step, const std::string& point,
                       const std::string& name, const std::string& a, const std::string& b) {
    table.rows.push_back({text_cell(what), text_cell(step), text_cell(point), text_cell(name),
                          text_cell(""), text_cell(a), text_cell(b), text_cell(""), text_cell("")});
  };
  for (const TextDifference& fact : differences.provenance)
    add("provenance", "", "", fact.name, fact.a, fact.b);
  for (const TextDifference& one : differences.parameters)
    add("parameter", one.step, "", one.name, one.a, one.b);
  for (const LonePoint& point : differences.points) {
    const std::string count = std::to_string(point.workpackages);
    add("point", point.step, parameters_text(point.parameters), "workpackages",
        point.in_a ? count : "0", point.in_a ? "0" : count);
  }
  for (const inspect::StateDifference& state : differences.states)
    add("state", state.pair.step, parameters_text(state.pair.parameters), "state", state.a,
        state.b);
  for (const MetricDifference& metric : differences.metrics) {
    add("metric", metric.pair.step, parameters_text(metric.pair.parameters), metric.name, "", "");
    auto& row = table.rows.back();
    row[4] = text_cell(metric.unit);
    row[5].value = metric.a;
    row[6].value = metric.b;
    row[7] = number_cell(metric.difference);
    row[8] = number_cell(metric.relative);
  }
  return table;
}

}  // namespace bench::cli
