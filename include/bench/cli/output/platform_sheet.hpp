#pragma once

#include <string>

#include <bench/machine/platform.hpp>

namespace bench::cli {

/// Everything that a platform file says, for people: a line per key with where it is from, what
/// nobody has confirmed marked as such.
std::string platform_sheet(const platform::Platform& platform);

}  // namespace bench::cli
