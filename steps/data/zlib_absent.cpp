// Stands in for zlib.cpp where the build found no zlib.
#include "data/zlib.hpp"
#include "harness/program.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {
namespace {

[[noreturn]] void refuse_zlib(const std::string& message) {
  throw UsageError(message + ": this program was built without zlib",
                   "install zlib (Debian: zlib1g-dev) and build again");
}

}  // namespace

struct Deflater::Stream {};

std::vector<char> unpack(std::string_view, const std::string& path) {
  refuse_zlib("cannot unpack " + path);
}

Deflater::Deflater(Compression, int) {
  refuse_zlib("cannot compress");
}
Deflater::Deflater(Deflater&&) noexcept = default;
Deflater& Deflater::operator=(Deflater&&) noexcept = default;
Deflater::~Deflater() = default;
void Deflater::write(std::string_view, OutputFile&) {}
void Deflater::finish(OutputFile&) {}

}  // namespace bench::steps
