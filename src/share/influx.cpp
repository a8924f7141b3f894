#include "points.hpp"

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
#include <bench/numbers/number.hpp>
#include <bench/results/table.hpp>
#include <bench/share/formats.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::formats {
namespace {

using workspace::Attempt;
using workspace::Workpackage;

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

/// A unique name for each column: `v` in s and `v_s` would collide.
std::vector<std::string> field_names(const std::vector<NumberColumn>& columns) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const NumberColumn& column : columns) {
    const result::Heading& heading = *column.heading;
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
    if (const auto number = value ? statistics::number_of(*value) : std::nullopt;
        number && std::isfinite(*number))
      text += fmt::format(",{}={}", key(names[k]), *number);
  }
  return text;
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

}  // namespace bench::formats
