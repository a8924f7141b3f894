#include <filesystem>
#include <string>
#include <string_view>

#include <bench/base/below.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/space/cycle_parameters.hpp>
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

}  // namespace bench::space
