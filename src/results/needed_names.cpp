#include "needed_names.hpp"

#include <cctype>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <bench/energy/core/figures.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/model/calculate.hpp>
#include <bench/numbers/statistics.hpp>

namespace bench::results {
namespace {

/// Whether a name in the expression may be put together from values: `${p$n}`, `$p$n`.
bool may_build_names(const std::string& expression) {
  for (std::size_t at = expression.find('$', 1); at != std::string::npos;
       at = expression.find('$', at + 1)) {
    const char before = expression[at - 1];
    if (std::isalnum(static_cast<unsigned char>(before)) || before == '_' || before == '{')
      return true;
  }
  return false;
}

}  // namespace

NeededNames::NeededNames(const model::Benchmark& benchmark) {
  for (const energy::Figure& figure : energy::remarks())
    names_.emplace(figure.name);
  for (const model::Result& result : benchmark.results) {
    for (const model::Table& table : result.tables) {
      add_columns(benchmark, result, table.columns);
      if (!table.cdf.empty())
        names_.insert(model::ordered_name(table.cdf));
      names_.insert(table.sort.begin(), table.sort.end());
      add_filter(table.filter);
    }
    for (const model::Syslog& syslog : result.syslogs) {
      add_columns(benchmark, result, syslog.keys);
      names_.insert(syslog.sort.begin(), syslog.sort.end());
      add_filter(syslog.filter);
    }
    for (const model::Database& database : result.databases) {
      add_columns(benchmark, result, database.keys);
      add_filter(database.filter);
    }
  }
  for (const model::PatternSet& set : benchmark.pattern_sets)
    for (const model::Pattern& pattern : set.patterns)
      if (pattern.derived) {
        for (std::string& name : evaluate::names_in(pattern.text))
          in_derived_.insert(std::move(name));
        any_in_derived_ = any_in_derived_ || may_build_names(pattern.text);
      }
}

std::optional<std::set<std::string>> NeededNames::names() const {
  if (any_)
    return std::nullopt;
  std::set<std::string> names = names_;
  for (const std::string& name : names_)
    names.emplace(numbers::without_suffix(name));
  return names;
}

bool NeededNames::contains(std::string_view name) const {
  return any_ || any_in_derived_ || names_.contains(std::string(name)) ||
         in_derived_.contains(name);
}

template <class Columns>
void NeededNames::add_columns(const model::Benchmark& benchmark, const model::Result& result,
                              const Columns& columns) {
  for (const auto& column : columns)
    if (!column.calculation)
      names_.insert(column.name);
    else
      for (std::string& name : model::names_for(benchmark, result, *column.calculation))
        names_.insert(std::move(name));
}

void NeededNames::add_filter(const std::string& filter) {
  for (std::string& name : evaluate::names_in(filter))
    names_.insert(std::move(name));
  any_ = any_ || may_build_names(filter);
}

}  // namespace bench::results
