#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>

namespace bench::workflow {

/// Warns of parameters whose value is computed and not what it seems: of type int with a fraction,
/// or with bytes that are not UTF-8. Values that are written in the file are checked as it is read.
class ComputedValues {
 public:
  using IsInherited = std::function<bool(const expand::Assignment&)>;

  /// @param is_inherited whether a parent has the same value, which was warned of with that
  void check(const expand::Combination& combination, const IsInherited& is_inherited);
  /// A warning for each parameter, once.
  std::vector<Warning> take_warnings() { return std::exchange(warnings_, {}); }

 private:
  void warn(const expand::Assignment& assignment, const IsInherited& is_inherited,
            std::string message, std::string hint);

  std::set<const model::Parameter*> told_;
  std::vector<Warning> warnings_;
};

}  // namespace bench::workflow
