// Stands in for png.cpp where the build found no libpng.
#include "data/png.hpp"
#include "harness/program.hpp"

#include <fmt/core.h>

namespace bench::steps {
namespace {

[[noreturn]] void refuse_png(const std::string& source) {
  throw UsageError(
      fmt::format("{} is a PNG image, and this program was built without libpng", source),
      "install it (Debian: libpng-dev) and build again");
}

}  // namespace

bool is_png(std::string_view bytes) {
  return bytes.starts_with("\x89PNG\r\n\x1a\n");
}

ImageSize png_size(std::string_view, const std::string& source) {
  refuse_png(source);
}

void decode_png(std::string_view, const std::string& source, Image&) {
  refuse_png(source);
}

}  // namespace bench::steps
