#include "data/zlib.hpp"

#include "data/files.hpp"
#include "harness/errors.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#ifdef BENCH_STEPS_ZLIB
#include <zlib.h>
#endif

namespace bench::steps {
#ifdef BENCH_STEPS_ZLIB
namespace {

constexpr int window_bits = 15;
// Added to window_bits, see zlib.h: write gzip instead of zlib; read both.
constexpr int write_gzip = 16;
constexpr int read_any = 32;

constexpr std::size_t first_block = std::size_t{1} << 16;

uInt piece(std::size_t bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}

// zlib reads through a pointer to non-const, unless ZLIB_CONST is defined in every file.
Bytef* input(const char* bytes) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes));
}

class Inflater {
 public:
  Inflater(std::string_view compressed, const std::string& path)
      : compressed_(compressed), path_(path) {
    if (inflateInit2(&stream_, window_bits + read_any) != Z_OK)
      throw std::bad_alloc();
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  std::vector<char> run() {
    while (true) {
      const int status = step();
      if (status == Z_STREAM_END) {
        if (used_ == compressed_.size())
          break;
        next_member();
      } else if (status == Z_BUF_ERROR) {  // there is room, so the input has ended
        fail("the compressed data are incomplete");
      } else if (status == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (status != Z_OK) {
        fail(fmt::format("cannot unpack: {}", stream_.msg ? stream_.msg : zError(status)));
      }
    }
    unpacked_.resize(filled_);
    return std::move(unpacked_);
  }

 private:
  /// Unpacks as much as fits. Returns zlib's status.
  int step() {
    if (filled_ == unpacked_.size())
      unpacked_.resize(std::max(first_block, 2 * unpacked_.size()));
    const uInt in = piece(compressed_.size() - used_);
    const uInt out = piece(unpacked_.size() - filled_);
    stream_.next_in = input(compressed_.data() + used_);
    stream_.avail_in = in;
    stream_.next_out = reinterpret_cast<Bytef*>(unpacked_.data() + filled_);
    stream_.avail_out = out;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    used_ += in - stream_.avail_in;
    filled_ += out - stream_.avail_out;
    return status;
  }

  void next_member() {
    if (!compressed_.substr(used_).starts_with("\x1f\x8b"))
      fail("unknown data after the end of the compressed data");
    inflateReset(&stream_);
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw DataError(path_, used_, message);
  }

  std::string_view compressed_;
  const std::string& path_;
  z_stream stream_ = {};
  std::size_t used_ = 0;
  std::vector<char> unpacked_;
  std::size_t filled_ = 0;
};

}  // namespace

std::vector<char> unpack(std::string_view compressed, const std::string& path) {
  return Inflater(compressed, path).run();
}

struct Deflater::Stream {
  Stream(Compression format, int level) {
    const int bits = window_bits + (format == Compression::gzip ? write_gzip : 0);
    constexpr int memory_level = 8;  // zlib's default
    if (deflateInit2(&z, level, Z_DEFLATED, bits, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { deflateEnd(&z); }

  /// Compresses what `z` has as its input.
  void run(int flush, OutputFile& out) {
    do {
      z.next_out = reinterpret_cast<Bytef*>(block.data());
      z.avail_out = static_cast<uInt>(block.size());
      deflate(&z, flush);  // fails only if it is called wrongly
      out.write({block.data(), block.size() - z.avail_out});
    } while (z.avail_out == 0);
  }

  z_stream z = {};
  std::array<char, first_block> block;
};

Deflater::Deflater(Compression format, int level)
    : stream_(std::make_unique<Stream>(format, level)) {}
Deflater::Deflater(Deflater&&) noexcept = default;
Deflater& Deflater::operator=(Deflater&&) noexcept = default;
Deflater::~Deflater() = default;

void Deflater::write(std::string_view bytes, OutputFile& out) {
  while (!bytes.empty()) {
    const uInt taken = piece(bytes.size());
    stream_->z.next_in = input(&bytes.front());
    stream_->z.avail_in = taken;
    stream_->run(Z_NO_FLUSH, out);
    bytes.remove_prefix(taken);
  }
}

void Deflater::finish(OutputFile& out) {
  stream_->z.avail_in = 0;
  stream_->run(Z_FINISH, out);
}

#else
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

#endif
}  // namespace bench::steps
