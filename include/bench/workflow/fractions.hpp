#pragma once

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/expand/combination.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::workflow {

/// Finds parameters of type int whose value, where it is computed, has a fraction. Values that are
/// written in the file are checked as it is read.
class Fractions {
 public:
  using IsInherited = std::function<bool(const expand::Assignment&)>;

  /// @param is_inherited whether a parent has the same value, which was told of with that
  void check(const expand::Combination& combination, const IsInherited& is_inherited);
  /// A warning for each parameter, once.
  std::vector<Warning> take_warnings() { return std::exchange(warnings_, {}); }

 private:
  void check(const expand::Assignment& assignment, const IsInherited& is_inherited);

  std::set<const model::Parameter*> told_;
  std::vector<Warning> warnings_;
};

}  // namespace bench::workflow
