#include "points.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/numbers/number.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/share/formats.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::formats {
namespace {

using tabulate::TidyColumn;
using workspace::Workpackage;

constexpr const char* iteration_name = "iteration";

/// Names of parameters that vary, by step.
std::map<std::string, std::set<std::string>> varying_names(const Subject& subject) {
  std::map<std::pair<std::string, std::string>, std::string> first;
  std::map<std::string, std::set<std::string>> varying;
  const auto take = [&](const std::string& step, const std::string& name,
                        const std::string& value) {
    if (first.try_emplace({step, name}, value).first->second != value)
      varying[step].insert(name);
  };
  for (const Workpackage& one : subject.tidy.workpackages) {
    for (const auto& [name, value] : one.parameters)
      take(one.step, name, value);
    take(one.step, iteration_name, std::to_string(one.iteration));
  }
  return varying;
}

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

}  // namespace

std::vector<std::vector<std::string>> distinctions(const Subject& subject) {
  const auto varying = varying_names(subject);
  std::vector<std::vector<std::string>> all;
  for (const Workpackage& one : subject.tidy.workpackages) {
    std::vector<std::string>& texts = all.emplace_back();
    const auto names = varying.find(one.step);
    if (names == varying.end())
      continue;
    for (const auto& [name, value] : one.parameters)
      if (names->second.contains(name))
        texts.push_back(fmt::format("{}={}", name, one_line(value)));
    if (names->second.contains(iteration_name))
      texts.push_back(fmt::format("{}={}", iteration_name, one.iteration));
  }
  return all;
}

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

std::string name_with_unit(const std::string& name, const std::string& unit) {
  const std::string word = unit_word(unit);
  return word.empty() || to_lower(name).ends_with("_" + to_lower(word)) ? name : name + "_" + word;
}

std::vector<NumberColumn> number_columns(const Subject& subject) {
  std::vector<NumberColumn> columns;
  const tabulate::TidyTable& tidy = subject.tidy;
  for (std::size_t k = 0; k < tidy.columns.size(); ++k) {
    const result::Heading& heading = tidy.table.headings[k];
    const bool is_time = tidy.columns[k] == TidyColumn::end && heading.title == "run_time";
    if (!is_time && tidy.columns[k] != TidyColumn::finding && tidy.columns[k] != TidyColumn::meter)
      continue;
    if (std::ranges::any_of(tidy.table.rows, [&](const auto& row) {
          return row[k].value && statistics::number_of(*row[k].value);
        }))
      columns.push_back({k, &heading});
  }
  return columns;
}

std::vector<const workspace::Attempt*> attempts_by_row(const Subject& subject) {
  std::vector<const workspace::Attempt*> rows;
  auto attempt = subject.tidy.attempts.begin();
  for (const Workpackage& one : subject.tidy.workpackages) {
    while (attempt != subject.tidy.attempts.end() && attempt->workpackage < one.id)
      ++attempt;
    const bool found = attempt != subject.tidy.attempts.end() && attempt->workpackage == one.id;
    rows.push_back(found ? &*attempt : nullptr);
  }
  return rows;
}

}  // namespace bench::formats
