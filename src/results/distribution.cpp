#include "distribution.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/results/table.hpp>

namespace bench::tabulate {
namespace {

using result::Cell;

constexpr const char* share_format = ".6g";

}  // namespace

void add_distribution_headings(const std::string& pattern, const std::string& unit,
                               result::Table& table) {
  table.headings.push_back({.title = pattern, .unit = unit, .place = {}, .name = pattern});
  table.headings.push_back({.title = "share", .unit = "", .place = {}, .name = "share"});
}

void add_distribution(const std::vector<Cell>& cells, const result::RowSource& source,
                      const Cell& values, result::Table& table) {
  const auto add = [&](Cell value, Cell share) {
    auto& row = table.rows.emplace_back(cells);
    row.push_back(std::move(value));
    row.push_back(std::move(share));
    table.sources.push_back(source);
  };
  if (!values.value)
    return add(values, values);
  const auto ordered = split_names(to_text(*values.value), " ");
  for (std::size_t k = 0; k < ordered.size(); ++k)
    if (k + 1 == ordered.size() || ordered[k] != ordered[k + 1])
      add({.value = to_value(ordered[k], ValueType::real), .estimated = values.estimated},
          {.value = static_cast<double>(k + 1) / static_cast<double>(ordered.size()),
           .format = share_format});
}

}  // namespace bench::tabulate
