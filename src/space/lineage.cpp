#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <bench/space/lineage.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

using workspace::Workpackage;

Lineage::Lineage(const std::vector<Workpackage>& all) : all_(all), representatives_(all.size()) {
  positions_.reserve(all.size());
  std::unordered_map<long long, std::size_t> first_of;  // by combination
  for (std::size_t k = 0; k < all_.size(); ++k) {
    positions_.emplace(all_[k].id, k);
    representatives_[k] = first_of.emplace(all_[k].combination, k).first->second;
    siblings_[representatives_[k]].push_back(k);
  }
}

std::optional<std::size_t> Lineage::position(long long id) const {
  const auto found = positions_.find(id);
  return found == positions_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::size_t> Lineage::lineage(std::size_t position_of_last) const {
  std::vector<std::size_t> line{position_of_last};
  for (std::size_t k = 0; k < line.size(); ++k)
    for (const long long parent : all_[line[k]].parents)
      if (const auto found = position(parent);
          found && std::find(line.begin(), line.end(), *found) == line.end())
        line.push_back(*found);
  return line;
}

std::map<long long, std::string> Lineage::parents(std::size_t position_of_child) const {
  std::map<long long, std::string> steps;
  for (const long long parent : all_[position_of_child].parents)
    if (const auto found = position(parent))
      steps.emplace(parent, all_[*found].step);
  return steps;
}

}  // namespace bench::space
