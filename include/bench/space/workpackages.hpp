#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bench/space/run.hpp>
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

/// Keeps the parameters of a later cycle in the directory of the workpackage. The workspace has
/// those of the first one, with which it would begin again; results show those of the last.
void keep_cycle_parameters(const std::filesystem::path& directory,
                           const workspace::Parameters& parameters);

/// The parameters that were kept last; empty where none were.
workspace::Parameters kept_cycle_parameters(const std::filesystem::path& directory);

/// The parameters of the last cycle of a workpackage, if they are others than at first.
std::optional<workspace::Parameters> last_parameters(const Run& run,
                                                     const workspace::Workpackage& workpackage);

/// The workpackages with the parameters of their last cycle, which results show; the workspace has
/// the parameters of the first cycle.
std::vector<workspace::Workpackage> in_last_cycle(const Run& run,
                                                  std::vector<workspace::Workpackage> workpackages);

}  // namespace bench::space
