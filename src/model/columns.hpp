#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <bench/model/benchmark.hpp>

namespace bench::model {

/// The names that a row of some analysers may have a value for: patterns and their statistics,
/// parameters, `jube_...`, and what the meter tells.
class Fillable {
 public:
  /// @param use names of analysers
  Fillable(const Benchmark& benchmark, const std::vector<std::string>& use);

  bool contains(const std::string& name) const;
  /// A did-you-mean, or empty.
  std::string near(const std::string& name) const;

 private:
  std::set<std::string> names_;
  bool energy_;
};

/// Whether a column or key with this name or title calculates its values.
template <class Columns>
bool is_calculated(const Columns& columns, const std::string& name) {
  return std::ranges::any_of(columns, [&](const auto& column) {
    return column.calculation && (column.name == name || column.title == name);
  });
}

}  // namespace bench::model
