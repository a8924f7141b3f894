#include <algorithm>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fmt/core.h>
#include <string.h>

#include <bench/base/error.hpp>
#include <bench/energy/sources/shared_library.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {
namespace {

void* open_library(const LibraryFiles& files) {
  std::string reason;
  for (const std::string& name : files.names) {
    if (void* const library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))
      return library;
    if (reason.empty())
      reason = ::dlerror();
  }
  throw Error(fmt::format("{}: {}", files.absence, reason), files.hint);
}

}  // namespace

void load_library(const LibraryFiles& files, std::initializer_list<Symbol> symbols) {
  void* const library = open_library(files);
  for (const Symbol& symbol : symbols) {
    void* const address = ::dlsym(library, symbol.name());
    if (!address && symbol.is_required())
      throw Error(fmt::format("{} has no {}", files.product, symbol.name()), files.hint);
    symbol.set(address);
  }
}

std::vector<std::string> rocm_library_names(const std::string& library,
                                            std::span<const int> versions,
                                            const std::optional<std::string>& rocm_path,
                                            const std::filesystem::path& opt) {
  std::vector<std::string> names;
  const auto add_from = [&](const std::filesystem::path& root) {
    names.push_back((root / "lib" / library).string());
  };
  if (rocm_path)
    add_from(*rocm_path);
  for (const int version : versions)
    names.push_back(fmt::format("{}.{}", library, version));
  names.push_back(library);
  add_from(opt / "rocm");
  const auto installed = entries(opt, "rocm-");
  const auto newest = std::ranges::max_element(installed, [](const auto& a, const auto& b) {
    return ::strverscmp(a.c_str(), b.c_str()) < 0;  // 6.10 is newer than 6.4
  });
  if (newest != installed.end())
    add_from(*newest);
  return names;
}

}  // namespace bench::energy
