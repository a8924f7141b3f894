#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/table.hpp>
#include <bench/space/workpackages.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::results {

/// The values of the rows of an analyser, where iterations are one row each. Every command that
/// shows one number for a row takes it from here.
class RowValues {
 public:
  /// @param analyses of each iteration, or nothing where that is not known; must outlive this
  ///        object, as the family must
  RowValues(const model::Benchmark& benchmark, const space::Lineage& family,
            const model::Analyser& analyser, const Analyses& analyses);

  /// The value of a row, given what its analyser found over all of its iterations: a statistic as
  /// it was found; else the median of the iterations that are done, with its spread, if each has
  /// one number; else the first value.
  /// @param representative of the iterations
  Cell cell(const workspace::Finding& found, std::size_t representative) const;

  /// Whether a name is that of a derived pattern that uses statistics of others, and so has one
  /// value for all iterations.
  bool is_of_whole_row(const std::string& name) const { return of_whole_row_.contains(name); }

  /// Says of which iterations, though they are done, nothing was found under a name or what it is a
  /// statistic of. None if that is so of all, or of none.
  std::optional<Remark> lacking(const std::string& name, std::size_t representative) const;

  /// Says which iterations have several values under a name where others have one, which is why
  /// there is no median. None for a statistic, and for texts.
  std::optional<Remark> several(const std::string& name, std::size_t representative) const;

 private:
  const workspace::Finding* at(const std::string& name, long long workpackage) const;

  const space::Lineage& family_;
  std::set<std::string> of_whole_row_;
  /// What was found at each iteration, by name, each list ascending by workpackage.
  std::unordered_map<std::string, std::vector<const workspace::Finding*>> found_;
};

}  // namespace bench::results
