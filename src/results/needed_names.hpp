#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <bench/model/benchmark.hpp>

namespace bench::results {

/// The names of findings that the results of a benchmark look up.
class NeededNames {
 public:
  explicit NeededNames(const model::Benchmark& benchmark);

  /// With the patterns behind statistics: these say why there are none. Nothing where any name may
  /// be needed.
  std::optional<std::set<std::string>> names() const;
  /// Whether results or derived patterns look up a name.
  bool contains(std::string_view name) const;

 private:
  template <class Columns>
  void add_columns(const model::Benchmark& benchmark, const model::Result& result,
                   const Columns& columns);
  void add_filter(const std::string& filter);

  std::set<std::string> names_;
  bool any_ = false;
  std::set<std::string, std::less<>> in_derived_;
  bool any_in_derived_ = false;
};

}  // namespace bench::results
