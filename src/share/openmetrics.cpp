#include "points.hpp"

#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/numbers/number.hpp>
#include <bench/results/table.hpp>
#include <bench/share/formats.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::formats {
namespace {

using workspace::Workpackage;
using Labels = std::vector<std::pair<std::string, std::string>>;

/// Valid names of metrics and labels: `[a-zA-Z_][a-zA-Z0-9_]*`.
std::string identifier(const std::string& text) {
  std::string name;
  for (const char c : text)
    name += (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? c : '_';
  return name.empty() || (name[0] >= '0' && name[0] <= '9') ? "_" + name : name;
}

std::string label_value(const std::string& text) {
  return replace_all(replace_all(replace_all(to_valid_utf8(text), "\\", "\\\\"), "\"", "\\\""),
                     "\n", "\\n");
}

std::string labels_text(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels)
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", name, label_value(value));
  return text.empty() ? "" : "{" + text + "}";
}

/// Labels that identify a workpackage. Parameters whose name is taken get the prefix `parameter_`.
Labels labels_of(const Subject& subject, const Workpackage& one) {
  Labels labels{{"benchmark", subject.run.metadata.benchmark},
                {"step", one.step},
                {"workpackage", std::to_string(one.id)},
                {"iteration", std::to_string(one.iteration)}};
  std::set<std::string> taken{"benchmark", "step", "workpackage", "iteration", "job", "instance"};
  for (const auto& [name, value] : one.parameters) {
    std::string label = identifier(name);
    if (label.starts_with("__") || taken.contains(label))
      label = "parameter_" + label;
    if (taken.insert(label).second)
      labels.emplace_back(label, value);
  }
  return labels;
}

/// Metrics in the common text format of Prometheus and OpenMetrics: gauges without timestamps. One
/// without samples is left out.
class MetricText {
 public:
  /// @param unit as a part of the name, at its end; empty: none
  void begin(const std::string& name, const std::string& help, const std::string& unit = "") {
    family_ = name;
    heading_ = fmt::format("# TYPE {} gauge\n", name);
    if (!unit.empty())
      heading_ += fmt::format("# UNIT {} {}\n", name, unit);
    // Prometheus allows no escaped quotes here; OpenMetrics requires them.
    heading_ += fmt::format("# HELP {} {}\n", name,
                            one_line(replace_all(replace_all(help, "\"", "'"), "\\", "/")));
  }
  void add(const Labels& labels, double value) {
    const std::string number = std::isnan(value)   ? "NaN"
                               : std::isinf(value) ? (value > 0 ? "+Inf" : "-Inf")
                                                   : fmt::format("{}", value);
    text_ += std::exchange(heading_, "") +
             fmt::format("{}{} {}\n", family_, labels_text(labels), number);
  }
  std::string text() const { return text_ + "# EOF\n"; }

 private:
  std::string family_;
  std::string heading_;  ///< Of the metric, until it has a sample.
  std::string text_;
};

void add_run(const Subject& subject, MetricText& metrics) {
  const setup::RunMetadata& metadata = subject.run.metadata;
  const Labels of_run{{"benchmark", metadata.benchmark}};
  Labels info = of_run;
  info.insert(info.end(), {{"run", metadata.id},
                           {"uuid", metadata.uuid},
                           {"platform", metadata.platform},
                           {"bench_version", metadata.bench_version}});
  metrics.begin("bench_run_info", "Information about the run");
  metrics.add(info, 1);
  if (const auto started = metadata.started_unix_s) {
    metrics.begin("bench_run_started_timestamp_seconds", "Start of the run", "seconds");
    metrics.add(of_run, *started);
  }
  std::map<std::string, double> states;
  for (const workspace::State state : workspace::all_states)
    states[std::string(name_of(state))] = 0;
  for (const Workpackage& one : subject.tidy.workpackages)
    ++states[std::string(name_of(one.state))];
  metrics.begin("bench_run_workpackages", "Workpackages of the run by state");
  for (const auto& [state, count] : states) {
    Labels labels = of_run;
    labels.emplace_back("state", state);
    metrics.add(labels, count);
  }
}

/// In lower case up to the unit: `mW` is not `MW`, and `Gb` is not `GB`. A unit that the title ends
/// with is not repeated.
std::string metric_name(const std::string& title, const std::string& unit) {
  std::string name = identifier(to_lower(title));
  const std::string end = "_" + unit;
  if (!unit.empty() && name.ends_with(to_lower(end)))
    name.resize(name.size() - end.size());
  return "bench_" + name + (unit.empty() ? "" : end);
}

}  // namespace

std::string openmetrics(const Subject& subject) {
  MetricText metrics;
  add_run(subject, metrics);
  std::set<std::string> taken{"bench_run_info", "bench_run_started_timestamp_seconds",
                              "bench_run_workpackages"};
  for (const NumberColumn& column : number_columns(subject)) {
    const result::Heading& heading = *column.heading;
    const std::string unit = unit_word(heading.unit);
    std::string name = metric_name(heading.title, unit);
    for (int k = 2; !taken.insert(name).second; ++k)
      name = metric_name(fmt::format("{}_{}", heading.title, k), unit);
    metrics.begin(
        name,
        heading.unit.empty() ? heading.title : fmt::format("{} in {}", heading.title, heading.unit),
        unit);
    for (std::size_t row = 0; row < subject.tidy.workpackages.size(); ++row) {
      const Workpackage& one = subject.tidy.workpackages[row];
      const auto& value = subject.tidy.table.rows[row][column.index].value;
      // An average over a metric could not tell what was found until a failure from a result.
      if (const auto number = value ? statistics::number_of(*value) : std::nullopt;
          number && one.state == workspace::State::done)
        metrics.add(labels_of(subject, one), *number);
    }
  }
  return metrics.text();
}

}  // namespace bench::formats
