#include <initializer_list>
#include <span>
#include <string>

#include <dlfcn.h>
#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/energy/sources/shared_library.hpp>

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
  throw Error(Id::missing_program, fmt::format("{}: {}", files.absence, reason), files.hint);
}

}  // namespace

void load_library(const LibraryFiles& files, std::initializer_list<Symbol> symbols) {
  void* const library = open_library(files);
  for (const Symbol& symbol : symbols) {
    void* const address = ::dlsym(library, symbol.name());
    if (!address && symbol.is_required())
      throw Error(Id::unsupported, fmt::format("{} has no {}", files.product, symbol.name()),
                  files.hint);
    symbol.set(address);
  }
}

}  // namespace bench::energy
