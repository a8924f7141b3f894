#include "json.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/text.hpp>

namespace bench::result {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const Value& value) {
  struct Writer {
    ordered_json operator()(long long integer) const { return integer; }
    ordered_json operator()(double real) const {
      if (std::isfinite(real))
        return real;
      return python_float(real);
    }
    ordered_json operator()(const std::string& text) const { return to_valid_utf8(text); }
  };
  return std::visit(Writer{}, value);
}

/// The titles as member names, each once: an object would keep only the last of several.
std::vector<std::string> member_names(const Table& table) {
  std::vector<std::string> names;
  for (const Heading& heading : table.headings) {
    const std::string title = to_valid_utf8(heading.title);
    std::string name = title;
    for (int n = 2; std::find(names.begin(), names.end(), name) != names.end(); ++n)
      name = fmt::format("{}_{}", title, n);
    names.push_back(name);
  }
  return names;
}

}  // namespace

std::string render_json(const Table& table) {
  const std::vector<std::string> names = member_names(table);
  ordered_json rows = ordered_json::array();
  for (const auto& cells : table.rows) {
    ordered_json row = ordered_json::object();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Cell& cell = cells[i];
      row[names[i]] = cell.value ? to_json(*cell.value) : ordered_json();
      if (!table.headings[i].unit.empty())
        row[names[i] + "_unit"] = to_valid_utf8(table.headings[i].unit);
      if (!cell.value && !cell.absent_reason.empty())
        row[names[i] + "_absent"] = to_valid_utf8(cell.absent_reason);
      if (cell.value && cell.estimated)
        row[names[i] + "_estimated"] = true;
    }
    rows.push_back(std::move(row));
  }
  return rows.dump(2) + "\n";
}

}  // namespace bench::result
