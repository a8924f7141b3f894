#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/point_index.hpp>
#include <bench/space/workpackages.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

/// Compatible parents of a child-to-be: one workpackage of each step that its step depends on.
struct Parents {
  std::vector<long long> ids;  ///< Ascending.
  Origin origin;               ///< In the order of `depend`.
};

/// Finds the parents that go together for one step: those that agree in every parameter that they
/// share and that the step does not evaluate again. Each tuple occurs once, when its last member
/// is released. Constant work for a parent and each tuple it completes: candidates are found by the
/// values of the shared parameters.
class Join {
 public:
  Join(const model::Benchmark& benchmark, const model::Step& step, const Definitions& definitions,
       PointIndex& points, const Workpackages& workpackages);

  /// A parent has been released: every tuple that it completes. The released ones of the other
  /// steps vary as nested loops in the order of `depend`, each in the order of release.
  std::vector<Parents> release(const workspace::Workpackage& parent);

  /// Parents that were found to go together before, ascending.
  Parents parents_of(std::vector<long long> ids) const;

  /// A parent whose tuples have been made already.
  void add_released(const workspace::Workpackage& parent);

  /// Why parents can have no children together, for the user; emptied.
  std::vector<std::string> take_conflicts();

 private:
  /// The released workpackages of one parent step, by the values that they share with others.
  struct Index {
    std::vector<std::string> shared;
    bool impossible = false;  ///< The steps define a shared parameter differently.
    std::unordered_map<std::string, std::vector<long long>> by_values;
    std::size_t indexed = 0;  ///< How many of the released ones are in it.
  };

  Index& index_of(const std::string& released, const std::string& other);
  Index make_index(const std::vector<std::string>& before, const std::string& other);
  std::string key(const std::vector<long long>& ids, const std::vector<std::string>& names) const;
  bool agree(const std::vector<long long>& ids, long long candidate) const;
  bool is_kept(const model::Parameter& definition) const;
  Origin origin_of(const std::vector<long long>& ids) const;

  const model::Benchmark& benchmark_;
  const model::Step& step_;
  const Definitions& definitions_;
  PointIndex& points_;
  const Workpackages& workpackages_;
  std::map<std::string, std::vector<long long>> released_;  ///< By step.
  std::map<std::pair<std::string, std::string>, Index> indexes_;
  std::vector<std::string> conflicts_;
};

}  // namespace bench::space
