#pragma once

#include <string>

#include <bench/base/value.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

/// What the definition behind a column says about all of its values.
struct ColumnMeaning {
  std::string unit;
  ValueType type = ValueType::string;  ///< Of the values, not of a mean or deviation of them.
  /// What columns calculate with. Tables show it as `unit`, except where JUBE has none: of the sum
  /// of the squares, of `<parameter>_<step>`, and of facts of the platform.
  std::string unit_of_values;
  /// Whether it is the first of several values, whose statistics have names of their own.
  bool has_statistics = false;
};

/// Of a name in a result: a pattern or a statistic of one, a parameter, `<parameter>_<step>`, or a
/// figure of the meter. Patterns that the result's analysers use come before others of the name.
ColumnMeaning meaning_of(const Benchmark& benchmark, const Result& result, const std::string& name);

}  // namespace bench::model
