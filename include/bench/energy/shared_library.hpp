#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench::energy {

/// Loads the first of `names` that is there. It stays mapped: drivers do not expect to be unloaded.
/// @throws bench::Error, `<absence>: <what the loader says of the first name>`, if none is there
void* load_library(std::span<const std::string> names, const std::string& absence);

/// The address of a function; null where the library has none of that name.
void* find_function(void* library, const char* name);

/// Sets `function` to the library's function of that name, or to null.
template <class Function>
void resolve(void* library, Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(find_function(library, name));
}

/// Where a library of ROCm may be: in `lib` of `rocm_path` (ROCM_PATH); where the loader looks,
/// with each of the versions and without; in `lib` of `<opt>/rocm` and of the newest
/// `<opt>/rocm-*`.
std::vector<std::string> rocm_library_names(const std::string& library,
                                            std::span<const int> versions,
                                            const std::optional<std::string>& rocm_path,
                                            const std::filesystem::path& opt = "/opt");

}  // namespace bench::energy
