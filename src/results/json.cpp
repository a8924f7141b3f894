#include "writer.hpp"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
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

/// The members of a column in the objects of its rows.
struct ColumnMembers {
  std::string value;
  std::string unit;
  std::string absent;
  std::string estimated;
};

struct Members {
  std::vector<ColumnMembers> columns;
  std::string status;
  std::string status_reason;
};

/// The values of all columns come first: where a column has the name of what is said about another,
/// it keeps it, whatever their order. Each name once: an object would keep only the last of
/// several.
Members members_of(const Table& table) {
  std::set<std::string> taken;
  Members members;
  for (const Heading& heading : table.headings)
    members.columns.push_back({.value = unique_name(to_valid_utf8(heading.title), taken)});
  members.status = unique_name("status", taken);
  for (ColumnMembers& column : members.columns) {
    column.unit = unique_name(column.value + "_unit", taken);
    column.absent = unique_name(column.value + "_absent", taken);
    column.estimated = unique_name(column.value + "_estimated", taken);
  }
  members.status_reason = unique_name(members.status + "_reason", taken);
  return members;
}

ordered_json row_json(const Table& table, std::size_t number, const Members& members) {
  ordered_json row = ordered_json::object();
  for (std::size_t i = 0; i < table.headings.size(); ++i) {
    const Cell& cell = table.rows[number][i];
    const ColumnMembers& column = members.columns[i];
    row[column.value] = value_json(cell);
    if (!table.headings[i].unit.empty())
      row[column.unit] = to_valid_utf8(table.headings[i].unit);
    const std::string reason = !cell.value                ? absence(table, number, i)
                               : !is_in_json(*cell.value) ? to_text(*cell.value)
                                                          : "";
    if (!reason.empty())
      row[column.absent] = to_valid_utf8(reason);
    if (cell.value && cell.estimated)
      row[column.estimated] = true;
  }
  if (table.sources.empty())
    return row;
  const RowSource& source = table.sources[number];
  row[members.status] = status_of(source);
  if (const std::string reason = status_reason(source); !reason.empty())
    row[members.status_reason] = to_valid_utf8(reason);
  return row;
}

}  // namespace

std::string render_json(std::span<const Table> tables) {
  ordered_json all = ordered_json::object();
  for (const Table& table : tables) {
    const Members members = members_of(table);
    ordered_json rows = ordered_json::array();
    for (std::size_t number = 0; number < table.rows.size(); ++number)
      rows.push_back(row_json(table, number, members));
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
                                 const Members members = members_of(table);
                                 std::string lines;
                                 for (std::size_t number = 0; number < table.rows.size(); ++number)
                                   lines += row_json(table, number, members).dump() + "\n";
                                 return lines;
                               }};

}  // namespace bench::results
