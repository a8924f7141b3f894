#include "notes.hpp"
#include "writer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/result/table.hpp>

namespace bench::result {
namespace {

using nlohmann::ordered_json;

/// What reads back as the same number, else as text.
ordered_json integer_json(const std::string& digits) {
  std::uint64_t fitting = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), fitting);
  return error == std::errc() && end == digits.data() + digits.size() ? ordered_json(fitting)
                                                                      : ordered_json(digits);
}

/// Json has neither `nan` nor `inf`.
bool is_in_json(const Value& value) {
  const auto* real = std::get_if<double>(&value);
  return !real || std::isfinite(*real);
}

ordered_json value_json(const Cell& cell) {
  struct Writer {
    ordered_json operator()(long long integer) const { return integer; }
    ordered_json operator()(double real) const { return real; }
    ordered_json operator()(const std::string& text) const { return to_valid_utf8(text); }
  };
  if (!cell.value || !is_in_json(*cell.value))
    return {};
  if (cell.is_wide_integer)
    return integer_json(std::get<std::string>(*cell.value));
  return std::visit(Writer{}, *cell.value);
}

/// The titles and `status` as member names, each once: an object would keep only the last of
/// several.
std::vector<std::string> member_names(const Table& table) {
  std::vector<std::string> titles;
  for (const Heading& heading : table.headings)
    titles.push_back(to_valid_utf8(heading.title));
  titles.emplace_back("status");
  std::vector<std::string> names;
  for (const std::string& title : titles) {
    std::string name = title;
    for (int n = 2; std::find(names.begin(), names.end(), name) != names.end(); ++n)
      name = fmt::format("{}_{}", title, n);
    names.push_back(name);
  }
  return names;
}

ordered_json row_json(const Table& table, std::size_t number,
                      const std::vector<std::string>& names) {
  ordered_json row = ordered_json::object();
  for (std::size_t i = 0; i < table.headings.size(); ++i) {
    const Cell& cell = table.rows[number][i];
    row[names[i]] = value_json(cell);
    if (!table.headings[i].unit.empty())
      row[names[i] + "_unit"] = to_valid_utf8(table.headings[i].unit);
    const std::string reason = !cell.value                ? absence(table, number, i)
                               : !is_in_json(*cell.value) ? to_text(*cell.value)
                                                          : "";
    if (!reason.empty())
      row[names[i] + "_absent"] = to_valid_utf8(reason);
    if (cell.value && cell.estimated)
      row[names[i] + "_estimated"] = true;
  }
  if (table.sources.empty())
    return row;
  const RowSource& source = table.sources[number];
  row[names.back()] = status_of(source);
  if (const std::string reason = status_reason(source); !reason.empty())
    row[names.back() + "_reason"] = to_valid_utf8(reason);
  return row;
}

}  // namespace

std::string render_json(std::span<const Table> tables) {
  ordered_json all = ordered_json::object();
  for (const Table& table : tables) {
    const std::vector<std::string> names = member_names(table);
    ordered_json rows = ordered_json::array();
    for (std::size_t number = 0; number < table.rows.size(); ++number)
      rows.push_back(row_json(table, number, names));
    all[to_valid_utf8(table.name)] = std::move(rows);
  }
  return all.dump(2) + "\n";
}

const Writer json_writer{
    {.name = "json", .ending = ".json", .is_for_programs = true, .joins_tables = true},
    [](const Table& table, const std::vector<std::string>&) {
      return render_json({&table, 1});
    }};

const Writer json_lines_writer{{.name = "jsonl",
                                .ending = ".jsonl",
                                .is_for_programs = true,
                                .is_for_one_table = true,
                                .may_precede_blank_line = false},
                               [](const Table& table, const std::vector<std::string>&) {
                                 const std::vector<std::string> names = member_names(table);
                                 std::string lines;
                                 for (std::size_t number = 0; number < table.rows.size(); ++number)
                                   lines += row_json(table, number, names).dump() + "\n";
                                 return lines;
                               }};

}  // namespace bench::result
