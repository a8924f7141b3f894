#include <string>
#include <string_view>

#include <zlib.h>

#include <bench/base/error.hpp>
#include <bench/base/gzip.hpp>

namespace bench {

std::string gzip(std::string_view bytes, Compression compression) {
  constexpr int window_of_gzip = 15 + 16;
  constexpr int memory_level = 9;
  const int level = compression == Compression::fastest ? Z_BEST_SPEED : Z_BEST_COMPRESSION;
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, window_of_gzip, memory_level, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw Error(Id::system_error, "cannot compress: out of memory");
  std::string text(deflateBound(&stream, bytes.size()), '\0');
  // zlib only reads it.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const int result = deflate(&stream, Z_FINISH);
  text.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END)
    throw Error(Id::system_error, "cannot compress");
  return text;
}

}  // namespace bench
