#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/base/below.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/cycle_parameters.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {
namespace {

/// As /proc has environments: values may hold newlines.
constexpr std::string_view end_of_parameter("\0", 1);

std::filesystem::path parameter_file(const std::filesystem::path& directory) {
  return directory / "parameters";
}

}  // namespace

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

using workspace::Workpackage;

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
