#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/share/export_formats.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::formats {
namespace {

using results::TidyColumn;
using workspace::Attempt;
using workspace::Workpackage;

/// A unit in letters and digits. Dropping a sign would change the unit: `µs` is not `s`. Micro has
/// two Unicode characters, and so has ohm.
std::string ascii_unit(std::string unit) {
  constexpr std::array<std::pair<const char*, const char*>, 12> names{{{"%", "percent"},
                                                                       {"/", "_per_"},
                                                                       {"\u00b5", "u"},
                                                                       {"\u03bc", "u"},
                                                                       {"\u2126", "ohm"},
                                                                       {"\u03a9", "ohm"},
                                                                       {"\u00b0", "deg"},
                                                                       {"\u00b2", "2"},
                                                                       {"\u00b3", "3"},
                                                                       {"\u00b7", "_"},
                                                                       {"\u22c5", "_"},
                                                                       {"\u20ac", "EUR"}}};
  for (const auto& [sign, name] : names)
    unit = replace_all(unit, sign, name);
  std::string ascii;
  for (const char c : unit)
    ascii += static_cast<unsigned char>(c) < 0x80
                 ? std::string(1, c)
                 : fmt::format("x{:02x}", static_cast<unsigned char>(c));
  return ascii;
}

/// The unit as a part of a name: `GB_per_s` for `GB/s`, `percent` for `%`.
std::string unit_word(const std::string& unit) {
  std::string word;
  for (const char c : ascii_unit(unit))
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
      word += c;
    else if (!word.empty() && word.back() != '_')
      word += '_';
  while (word.ends_with('_'))
    word.pop_back();
  return word.starts_with("1_per_") ? word.substr(2) : word;
}

/// A numeric column of the tidy table: results, measurements and run time.
struct NumberColumn {
  std::size_t index = 0;
  const results::Heading* heading = nullptr;
};

std::vector<NumberColumn> number_columns(const Subject& subject) {
  std::vector<NumberColumn> columns;
  const results::TidyTable& tidy = subject.tidy;
  for (std::size_t k = 0; k < tidy.columns.size(); ++k) {
    const results::Heading& heading = tidy.table.headings[k];
    const bool is_time = tidy.columns[k] == TidyColumn::end && heading.title == "run_time";
    if (!is_time && tidy.columns[k] != TidyColumn::finding && tidy.columns[k] != TidyColumn::meter)
      continue;
    if (std::ranges::any_of(tidy.table.rows, [&](const auto& row) {
          return row[k].value && numbers::number_of(*row[k].value);
        }))
      columns.push_back({k, &heading});
  }
  return columns;
}

/// Escapes a key or tag value. A trailing backslash, which would escape the comma, and line breaks
/// have no escapes and are replaced.
std::string escaped(const std::string& text, std::string_view special) {
  std::string result;
  for (const char c : one_line(to_valid_utf8(text))) {
    if (special.find(c) != std::string_view::npos)
      result += '\\';
    result += c;
  }
  if (result.ends_with('\\'))
    result.back() = '_';
  return result;
}

std::string key(const std::string& text) {
  return escaped(text, ",= ");
}

std::string quoted(const std::string& text) {
  return "\"" + replace_all(replace_all(to_valid_utf8(text), "\\", "\\\\"), "\"", "\\\"") + "\"";
}

/// Reserved names of the database, and names of fields that every point has: tags may not use them.
bool is_taken(const std::string& name) {
  constexpr std::array<std::string_view, 6> names{"time",  "_field",  "_measurement",
                                                  "state", "retries", "run"};
  return std::ranges::find(names, name) != names.end();
}

/// Tags identify the series, sorted by key as the database recommends.
std::string tags_of(const Subject& subject, const Workpackage& one, const Attempt& attempt,
                    const std::vector<std::string>& fields) {
  std::map<std::string, std::string> tags;
  for (const auto& [name, value] : one.parameters)
    tags[is_taken(name) || std::ranges::find(fields, name) != fields.end() ? "parameter_" + name
                                                                           : name] = value;
  for (const auto& [name, value] : std::initializer_list<std::pair<std::string, std::string>>{
           {"benchmark", subject.run.metadata.benchmark},
           {"step", one.step},
           {"platform", subject.run.metadata.platform},
           {"host", attempt.host},
           {"workpackage", std::to_string(one.id)},
           {"iteration", std::to_string(one.iteration)}}) {
    if (const auto taken = tags.find(name); taken != tags.end())
      tags["parameter_" + name] = taken->second;
    tags[name] = value;
  }
  std::string text;
  for (const auto& [name, value] : tags)
    if (const std::string tag = key(value); !tag.empty())
      text += fmt::format(",{}={}", key(name), tag);
  return text;
}

/// A name with its unit appended, unless it already ends with it.
std::string name_with_unit(const std::string& name, const std::string& unit) {
  const std::string word = unit_word(unit);
  return word.empty() || to_lower(name).ends_with("_" + to_lower(word)) ? name : name + "_" + word;
}

/// A unique name for each column: `v` in s and `v_s` would collide.
std::vector<std::string> field_names(const std::vector<NumberColumn>& columns) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const NumberColumn& column : columns) {
    const results::Heading& heading = *column.heading;
    std::string name = name_with_unit(heading.title, heading.unit);
    for (int k = 2; !taken.insert(name).second; ++k)
      name = name_with_unit(fmt::format("{}_{}", heading.title, k), heading.unit);
    names.push_back(is_taken(name) ? "value_" + name : name);
  }
  return names;
}

std::string fields_of(const Subject& subject, std::size_t row,
                      const std::vector<NumberColumn>& columns,
                      const std::vector<std::string>& names) {
  const Workpackage& one = subject.tidy.workpackages[row];
  std::string text =
      fmt::format("state={},run={}i,retries={}i", quoted(std::string(name_of(one.state))),
                  subject.run.directory.id, one.retries);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const auto& value = subject.tidy.table.rows[row][columns[k].index].value;
    // A field has one type for all points. The protocol has no nan and no infinity.
    if (const auto number = value ? numbers::number_of(*value) : std::nullopt;
        number && std::isfinite(*number))
      text += fmt::format(",{}={}", key(names[k]), *number);
  }
  return text;
}

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
  const space::RunMetadata& metadata = subject.run.metadata;
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

std::string influx(const Subject& subject) {
  const auto columns = number_columns(subject);
  const auto names = field_names(columns);
  const auto attempts = attempts_by_row(subject);
  std::string text;
  for (std::size_t row = 0; row < subject.tidy.workpackages.size(); ++row) {
    const Workpackage& one = subject.tidy.workpackages[row];
    // A point needs a timestamp.
    if (!attempts[row] || !attempts[row]->ended_unix_s || !one.has_ended())
      continue;
    // In ns. The database stores times slightly less precisely than to the microsecond.
    const long long time_us = std::llround(*attempts[row]->ended_unix_s * 1e6);
    text += fmt::format("bench{} {} {}000\n", tags_of(subject, one, *attempts[row], names),
                        fields_of(subject, row, columns, names), time_us);
  }
  return text;
}

std::string openmetrics(const Subject& subject) {
  MetricText metrics;
  add_run(subject, metrics);
  std::set<std::string> taken{"bench_run_info", "bench_run_started_timestamp_seconds",
                              "bench_run_workpackages"};
  for (const NumberColumn& column : number_columns(subject)) {
    const results::Heading& heading = *column.heading;
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
      if (const auto number = value ? numbers::number_of(*value) : std::nullopt;
          number && one.state == workspace::State::done)
        metrics.add(labels_of(subject, one), *number);
    }
  }
  return metrics.text();
}

}  // namespace bench::formats
