#pragma once

#include <filesystem>

namespace bench::support {

/// The root of the source tree. `__FILE__` does not lead there: compilers and ccache shorten it.
std::filesystem::path source_directory();

}  // namespace bench::support
