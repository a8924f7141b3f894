#pragma once

#include <map>
#include <string>
#include <vector>

#include <bench/store/state_store.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::sweep {

/// Skips the workpackages of some steps that are at none of the wanted points. All iterations of a
/// combination are at the point of its first one.
class Selection {
 public:
  using Points = std::map<std::string, std::vector<workspace::Parameters>>;  ///< By step.

  /// @param only must outlive this object; without steps, nothing is skipped
  Selection(const Points& only, store::StateStore& store);
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;
  ~Selection() = default;

  void decide();

 private:
  void add(const workspace::Workpackage& workpackage);
  bool is_wanted(const workspace::Workpackage& workpackage) const;

  const Points& only_;
  store::StateStore& store_;
  std::vector<long long> unwanted_;  ///< Not skipped so far.
};

}  // namespace bench::sweep
