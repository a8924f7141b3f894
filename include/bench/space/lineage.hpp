#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <bench/workspace/workpackage.hpp>

namespace bench::space {

/// How the workpackages of a run belong together. Positions count in the list of all workpackages,
/// since ids may have gaps: a user can remove workpackages.
class Lineage {
 public:
  /// @param all ascending by id; must outlive this object
  explicit Lineage(const std::vector<workspace::Workpackage>& all);

  const workspace::Workpackage& at(std::size_t position) const { return all_[position]; }
  std::size_t size() const { return all_.size(); }
  std::optional<std::size_t> position(long long id) const;

  /// The first that exists of the workpackages on one point; it stands for all of them where
  /// iterations are reduced to one row.
  std::size_t representative(std::size_t position) const { return representatives_[position]; }
  /// Those that a representative stands for, itself first, ascending.
  const std::vector<std::size_t>& siblings(std::size_t representative) const {
    return siblings_.at(representative);
  }

  /// A workpackage and all its ancestors, nearest first.
  std::vector<std::size_t> lineage(std::size_t position) const;
  /// Its direct parents' steps by id.
  std::map<long long, std::string> parents(std::size_t position) const;

 private:
  const std::vector<workspace::Workpackage>& all_;
  std::unordered_map<long long, std::size_t> positions_;
  std::vector<std::size_t> representatives_;
  std::unordered_map<std::size_t, std::vector<std::size_t>> siblings_;
};

}  // namespace bench::space
