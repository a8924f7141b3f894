#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/workpackages.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

/// The point of the parameter space that each workpackage has. The iterations of one combination
/// share a point, even where a parameter differs because it names the workpackage
/// (`log_$jube_wp_id`); so do the children of parents on one point if their values are equal. A
/// template that holds a value twice (`1,1`) makes two points, though nothing in their values tells
/// them apart.
class PointIndex {
 public:
  PointIndex(const model::Benchmark& benchmark, const Definitions& definitions,
             Workpackages& workpackages);

  /// Finds the points of the workpackages that have come since the last call. Those whose
  /// `combination` is less than 0 get it: the id of the first on the point. Where it is equal for
  /// several in a row, they were made from one combination.
  void settle();

  /// Which of the equal values of its template a parameter has: 0 for all but the likes of `1,1`.
  int repeat_of(const workspace::Workpackage& workpackage, const std::string& name);

 private:
  std::string key_of(const workspace::Workpackage& workpackage) const;
  /// Places the workpackages of one combination, by their positions.
  void place(std::size_t begin, std::size_t end);
  bool is_inherited(const workspace::Workpackage& workpackage, const model::Parameter& definition,
                    const workspace::Workpackage** from) const;
  /// How many of the template's values equal this one.
  int repeats_of(const model::Parameter& definition, const std::string& value) const;

  const model::Benchmark& benchmark_;
  const Definitions& definitions_;
  Workpackages& workpackages_;
  /// How many of the workpackages have their points. The others wait until somebody asks: a run
  /// of many that continues without new ones never does.
  std::size_t settled_ = 0;
  /// Templates of the benchmark that hold a value twice, with their values.
  std::unordered_map<const model::Parameter*, std::vector<std::string>> repetitive_;
  /// First workpackage of each point, by everything that makes the point.
  std::unordered_map<std::string, long long> points_;
  /// How many combinations have this point, these parents and this iteration first.
  std::unordered_map<std::string, int> equal_;
  /// Which of those that are equal a workpackage is, where not the first.
  std::unordered_map<long long, int> twins_;
};

}  // namespace bench::space
