#include "environment_file.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include <bench/base/below.hpp>
#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::execute {

std::filesystem::path environment_file(const std::filesystem::path& directory) {
  return directory / "environment";
}

std::optional<Environment> take_environment(const std::filesystem::path& directory) {
  const std::filesystem::path file = environment_file(directory);
  if (!is_there(file))
    return std::nullopt;
  const std::string content = read_file(file);
  std::error_code kept;
  std::filesystem::remove(file, kept);
  if (!content.ends_with('\0'))
    return std::nullopt;
  Environment environment;
  for (const std::string& entry : split(content, std::string_view("\0", 1)))
    if (const auto equals = entry.find('='); equals != std::string::npos && equals > 0)
      environment.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  return environment;
}

}  // namespace bench::execute
