#include <filesystem>
#include <utility>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/machine/load_all.hpp>
#include <bench/machine/platform.hpp>

namespace bench::platform {

std::vector<LoadedPlatform> load_platforms(const std::filesystem::path& beside) {
  std::vector<LoadedPlatform> all;
  for (FoundPlatform& found : find_platforms(beside)) {
    LoadedPlatform loaded{.found = std::move(found), .platform = {}, .error = {}};
    // One that is broken must not keep users from the others.
    try {
      loaded.platform = load_platform(loaded.found.name, beside);
    } catch (const Error& error) {
      loaded.error = error;
    }
    all.push_back(std::move(loaded));
  }
  return all;
}

}  // namespace bench::platform
