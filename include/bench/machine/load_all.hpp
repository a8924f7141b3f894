#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/machine/platform.hpp>

namespace bench::platform {

/// A platform, or why its file cannot be used.
struct LoadedPlatform {
  FoundPlatform found;
  std::optional<Platform> platform;
  std::optional<Error> error;
};

/// `load_platform` of all that `find_platforms` finds.
std::vector<LoadedPlatform> load_platforms(const std::filesystem::path& beside = {});

}  // namespace bench::platform
