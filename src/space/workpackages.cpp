#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/run.hpp>
#include <bench/space/workpackages.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {
namespace {

using workspace::Workpackage;

/// As /proc has environments: values may hold newlines.
constexpr std::string_view end_of_parameter("\0", 1);

std::filesystem::path parameter_file(const std::filesystem::path& directory) {
  return directory / "parameters";
}

}  // namespace

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

void keep_cycle_parameters(const std::filesystem::path& directory,
                           const workspace::Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters)
    text.append(name).append("=").append(value).append(end_of_parameter);
  write_file_atomically(parameter_file(directory), text);
}

workspace::Parameters kept_cycle_parameters(const std::filesystem::path& directory) {
  const auto file = parameter_file(directory);
  const UniqueFd fd = open_below(directory, file);
  workspace::Parameters parameters;
  if (!fd.valid())
    return parameters;
  for (const std::string& entry : split(read_all(fd, file), end_of_parameter))
    if (const auto equals = entry.find('='); equals != std::string::npos)
      parameters.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  return parameters;
}

std::optional<workspace::Parameters> last_parameters(const Run& run,
                                                     const Workpackage& workpackage) {
  if (run.benchmark.step(workpackage.step)->cycles == 1)
    return std::nullopt;
  workspace::Parameters last =
      space::kept_cycle_parameters(run.directory.path / workpackage.directory);
  if (last.empty() || last == workpackage.parameters)
    return std::nullopt;
  return last;
}

std::vector<Workpackage> in_last_cycle(const Run& run, std::vector<Workpackage> workpackages) {
  for (Workpackage& workpackage : workpackages)
    if (auto last = last_parameters(run, workpackage))
      workpackage.parameters = std::move(*last);
  return workpackages;
}

}  // namespace bench::space
