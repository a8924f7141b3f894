#pragma once

#include "data/files.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {

/// Formats of a compressed file, both with deflate's data: gzip (RFC 1952) and zlib (RFC 1950).
enum class Compression { none, gzip, zlib };

/// Unpacks a gzip file, which may have several members, or a zlib stream.
///
/// Memory grows with the unpacked data, whatever length the file claims. Deflate packs at most 1032
/// bytes into one (zlib.net/zlib_tech.html).
///
/// @param path for messages
/// @throws DataError if the data are damaged or end too early
/// @throws UsageError if this build has no zlib
std::vector<char> unpack(std::string_view compressed, const std::string& path);

/// Compresses what is written to a file.
class Deflater {
 public:
  /// @param format not `none`
  /// @param level 1 (fast) to 9 (small)
  /// @throws UsageError if this build has no zlib
  Deflater(Compression format, int level);
  Deflater(Deflater&&) noexcept;
  Deflater& operator=(Deflater&&) noexcept;
  ~Deflater();

  void write(std::string_view bytes, OutputFile& out);

  /// Writes what is left and the checksum.
  void finish(OutputFile& out);

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace bench::steps
