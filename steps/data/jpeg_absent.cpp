// Stands in for jpeg.cpp where the build found no libturbojpeg.
#include "data/jpeg.hpp"
#include "harness/program.hpp"

namespace bench::steps {
namespace {

[[noreturn]] void refuse_jpeg() {
  throw UsageError("this program was built without libjpeg-turbo",
                   "install it (Debian: libturbojpeg0-dev) and build again");
}

}  // namespace

struct JpegDecoder::Handle {};

JpegDecoder::JpegDecoder() {
  refuse_jpeg();
}
JpegDecoder::~JpegDecoder() = default;
ImageSize JpegDecoder::size(std::string_view, const std::string&) {
  refuse_jpeg();
}
void JpegDecoder::decode(std::string_view, const std::string&, Image&, int) {
  refuse_jpeg();
}
void JpegDecoder::convert_from_cmyk(Image&) {}

std::string encode_jpeg(const Image&, int) {
  refuse_jpeg();
}

}  // namespace bench::steps
