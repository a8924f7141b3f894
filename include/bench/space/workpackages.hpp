#pragma once

#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bench/workspace/workpackage.hpp>

namespace bench::space {

/// All workpackages of a run, ascending by id. Ids may have gaps, since a user can remove
/// workpackages.
class Workpackages {
 public:
  const std::vector<workspace::Workpackage>& all() const { return all_; }

  /// @throws std::out_of_range if there is none with this id
  workspace::Workpackage& at(long long id) { return all_[index_.at(id)]; }
  const workspace::Workpackage& at(long long id) const { return all_[index_.at(id)]; }

  /// The id that the next one gets.
  long long next_id() const { return all_.empty() ? 0 : all_.back().id + 1; }

  void reserve(std::size_t count) {
    all_.reserve(count);
    index_.reserve(count);
  }

  workspace::Workpackage& add(workspace::Workpackage workpackage) {
    index_.emplace(workpackage.id, all_.size());
    return all_.emplace_back(std::move(workpackage));
  }

 private:
  std::vector<workspace::Workpackage> all_;
  std::unordered_map<long long, std::size_t> index_;
};

}  // namespace bench::space
