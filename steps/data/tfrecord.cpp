#include "data/tfrecord.hpp"

#include "data/files.hpp"
#include "harness/errors.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
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

/// Compresses what is written to a file.
class TfRecordWriter::Deflater {
 public:
  /// @param format not `none`
  /// @param level 1 (fast) to 9 (small)
  Deflater(Compression format, int level) {
    const int bits = window_bits + (format == Compression::gzip ? write_gzip : 0);
    constexpr int memory_level = 8;  // zlib's default
    if (deflateInit2(&stream_, level, Z_DEFLATED, bits, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() { deflateEnd(&stream_); }

  void write(std::string_view bytes, OutputFile& out) {
    while (!bytes.empty()) {
      const uInt taken = piece(bytes.size());
      stream_.next_in = input(&bytes.front());
      stream_.avail_in = taken;
      run(Z_NO_FLUSH, out);
      bytes.remove_prefix(taken);
    }
  }

  /// Writes what is left and the checksum.
  void finish(OutputFile& out) {
    stream_.avail_in = 0;
    run(Z_FINISH, out);
  }

 private:
  /// Compresses the input of the stream.
  void run(int flush, OutputFile& out) {
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(block_.data());
      stream_.avail_out = static_cast<uInt>(block_.size());
      deflate(&stream_, flush);  // fails only if it is called wrongly
      out.write({block_.data(), block_.size() - stream_.avail_out});
    } while (stream_.avail_out == 0);
  }

  z_stream stream_ = {};
  std::array<char, first_block> block_;
};

#else

std::vector<char> unpack(std::string_view, const std::string& path) {
  refuse_without("zlib", "zlib1g-dev", "cannot unpack " + path);
}

class TfRecordWriter::Deflater {
 public:
  Deflater(Compression, int) { refuse_without("zlib", "zlib1g-dev", "cannot compress"); }
  void write(std::string_view, OutputFile&) {}
  void finish(OutputFile&) {}
};

#endif

namespace {

constexpr std::uint64_t head_bytes = 12;
constexpr std::uint64_t checksum_bytes = 4;

bool has_valid_length(std::string_view bytes) {
  return bytes.size() >= head_bytes &&
         number_at<std::uint32_t>(bytes, 8) == masked_crc(crc32c(bytes.substr(0, 8)));
}

/// True if the data begin like a gzip file (RFC 1952, 2.3.1) or a zlib stream with the usual window
/// of 32 KiB (RFC 1950, 2.2). The length of a record may begin so, too.
bool looks_compressed(std::string_view bytes) {
  if (bytes.size() < 2)
    return false;
  const auto first = static_cast<unsigned char>(bytes[0]);
  const auto second = static_cast<unsigned char>(bytes[1]);
  return (first == 0x1f && second == 0x8b) || (first == 0x78 && (256U * first + second) % 31 == 0);
}

}  // namespace

TfRecordFile::TfRecordFile(const std::string& path)
    : name_(path), file_(path, "give a TFRecord file"), bytes_(file_.bytes()) {
  if (has_valid_length(bytes_) || !looks_compressed(bytes_))
    return;
  will_read(bytes_);
  unpacked_ = unpack(bytes_, path);
  compressed_ = true;
  bytes_ = {unpacked_.data(), unpacked_.size()};
  name_ += " (unpacked)";
}

std::optional<std::uint64_t> TfRecordFile::end_of(std::uint64_t offset) const {
  const auto fail = [&](const std::string& message) {
    throw DataError(name_, offset, "record " + message);
  };
  if (offset == bytes_.size())
    return std::nullopt;
  if (offset > bytes_.size() || bytes_.size() - offset < head_bytes)
    fail("ends inside its length");
  if (!has_valid_length(bytes_.substr(offset)))
    fail("has a wrong checksum of its length");
  const auto length = number_at<std::uint64_t>(bytes_, offset);
  const std::uint64_t rest = bytes_.size() - offset - head_bytes;
  if (rest < checksum_bytes || length > rest - checksum_bytes)
    fail(fmt::format("of {} bytes ends behind the end of the file", length));
  return offset + head_bytes + length + checksum_bytes;
}

std::optional<TfRecordFile::Record> TfRecordFile::at(std::uint64_t offset) const {
  const std::optional<std::uint64_t> end = end_of(offset);
  if (!end)
    return std::nullopt;
  if (!compressed_)
    will_read(bytes_.substr(offset, *end - offset));
  const std::uint64_t from = offset + head_bytes;
  const std::uint64_t checksum_at = *end - checksum_bytes;
  const std::string_view payload = bytes_.substr(from, checksum_at - from);
  if (number_at<std::uint32_t>(bytes_, checksum_at) != masked_crc(crc32c(payload)))
    throw DataError(name_, offset, "record has a wrong checksum of its content");
  return Record{.payload = payload, .payload_at = from, .end = *end};
}

std::vector<std::uint64_t> TfRecordFile::record_offsets() const {
  const MappedFile::Scattered scattered(file_);
  std::vector<std::uint64_t> offsets;
  std::uint64_t offset = 0;
  while (const auto end = end_of(offset)) {
    offsets.push_back(offset);
    offset = *end;
  }
  return offsets;
}

TfRecordWriter::TfRecordWriter(const std::string& path, Compression compression, int level)
    : out_(path) {
  if (compression != Compression::none)
    deflater_ = std::make_unique<Deflater>(compression, level);
}

TfRecordWriter::~TfRecordWriter() = default;

void TfRecordWriter::add(std::string_view payload) {
  const std::uint64_t length = payload.size();
  const std::string_view length_bytes(reinterpret_cast<const char*>(&length), sizeof(length));
  write_checked(length_bytes);
  write_checked(payload);
}

void TfRecordWriter::finish() {
  if (deflater_)
    deflater_->finish(out_);
  out_.close();
}

void TfRecordWriter::write_checked(std::string_view bytes) {
  const std::uint32_t checksum = masked_crc(crc32c(bytes));
  write(bytes);
  write({reinterpret_cast<const char*>(&checksum), sizeof(checksum)});
}

void TfRecordWriter::write(std::string_view bytes) {
  if (deflater_)
    deflater_->write(bytes, out_);
  else
    out_.write(bytes);
}

namespace {

/// A process may have 65,530 mappings (vm.max_map_count), and libraries need some.
constexpr std::size_t most_mapped_files = 16384;

std::uint64_t file_bytes(const std::string& path) {
  std::error_code failure;
  const std::uint64_t bytes = std::filesystem::file_size(path, failure);
  if (failure)
    throw UsageError(fmt::format("cannot read {}: {}", path, failure.message()),
                     "give a TFRecord file");
  return bytes;
}

}  // namespace

struct TfRecordSet::OpenFile {
  explicit OpenFile(const std::string& path) : file(path), offsets(file.record_offsets()) {}

  TfRecordFile file;
  std::vector<std::uint64_t> offsets;  ///< Of the records.
};

struct TfRecordSet::File {
  std::string path;
  std::mutex opening;                    ///< Guards both pointers.
  std::weak_ptr<const OpenFile> open;    ///< Expired if no reader has it.
  std::shared_ptr<const OpenFile> kept;  ///< Empty if readers alone own it.
};

TfRecordSet::TfRecordSet(const std::vector<std::string>& paths, int threads,
                         std::uint64_t records_per_file) {
  for (const std::string& path : paths)
    files_.emplace_back(new File{.path = path, .opening = {}, .open = {}, .kept = {}});
  std::vector<std::uint64_t> records(paths.size(), records_per_file);
  std::vector<std::uint64_t> bytes(paths.size());
  for_each_index(paths.size(), threads, [&](std::size_t i) {
    bytes[i] = file_bytes(paths[i]);
    if (records_per_file == 0)
      records[i] = open(i)->offsets.size();
  });
  for (std::size_t i = 0; i < paths.size(); ++i) {
    first_.push_back(first_.back() + records[i]);
    bytes_ += bytes[i];
  }
}

TfRecordSet::~TfRecordSet() = default;

const std::string& TfRecordSet::path(std::size_t file) const {
  return files_[file]->path;
}

std::shared_ptr<const TfRecordSet::OpenFile> TfRecordSet::open(std::size_t file) const {
  File& entry = *files_[file];
  const std::lock_guard lock(entry.opening);
  if (auto open = entry.open.lock())
    return open;
  auto opened = std::make_shared<const OpenFile>(entry.path);
  entry.open = opened;
  if (!opened->file.compressed() && files_.size() <= most_mapped_files)
    entry.kept = opened;
  return opened;
}

TfRecordSet::Record TfRecordSet::Reader::at(std::uint64_t index) {
  const auto& first = set_.first_;
  if (index >= set_.size())
    throw DataError(
        set_.path(set_.files() - 1),
        fmt::format("record {} does not exist: there are {} up to this file", index, set_.size()));
  const auto number =
      static_cast<std::size_t>(std::ranges::upper_bound(first, index) - first.begin() - 1);
  if (!file_ || number != number_) {
    file_.reset();  // unpacked data of two files at once would need more memory
    file_ = set_.open(number);
    number_ = number;
  }
  if (file_->offsets.size() != set_.records_in(number))
    throw DataError(set_.path(number), fmt::format("{} records, expected {}", file_->offsets.size(),
                                                   set_.records_in(number)));
  const std::uint64_t offset = file_->offsets[index - first[number]];
  const TfRecordFile& file = file_->file;
  const TfRecordFile::Record record = file.at(offset).value();  // the offset is that of a record
  return {.payload = record.payload,
          .payload_at = record.payload_at,
          .file = file.name(),
          .offset = offset};
}

}  // namespace bench::steps
