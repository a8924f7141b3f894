#pragma once

#include "state_store.hpp"

#include <map>
#include <string>
#include <vector>

#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {

/// Skips the workpackages of the given steps that are not at a wanted point. All iterations of a
/// combination share the point of the first one.
class Selection {
 public:
  using Points = std::map<std::string, std::vector<workspace::Parameters>>;  ///< By step.

  /// @param only must outlive this object; without steps, nothing is skipped
  Selection(const Points& only, StateStore& store);
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;
  ~Selection() = default;

  void decide();

 private:
  void add(const workspace::Workpackage& workpackage);
  bool is_wanted(const workspace::Workpackage& workpackage) const;

  const Points& only_;
  StateStore& store_;
  std::vector<long long> unwanted_;  ///< Not skipped yet.
};

}  // namespace bench::run
