#pragma once

#include "data/files.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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

/// What a TFRecord file keeps instead of a checksum, because a checksum of data that holds its own
/// is always the same.
constexpr std::uint32_t masked_crc(std::uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

/// The records of a TFRecord file, which has no header. Each is, little endian:
///
///     u64 n, u32 masked CRC-32C of those 8 bytes, n bytes, u32 masked CRC-32C of those n bytes
///
/// The whole file may be compressed with gzip or zlib; it is then unpacked into memory.
///
/// Source: TensorFlow's guide "TFRecord and tf.train.Example".
class TfRecordFile {
 public:
  /// @throws UsageError if the file cannot be opened, DataError if it cannot be unpacked
  explicit TfRecordFile(const std::string& path);

  /// For messages. Of a compressed file `PATH (unpacked)`, because offsets are in the unpacked
  /// data.
  const std::string& name() const { return name_; }
  std::uint64_t file_bytes() const { return file_.size(); }
  bool compressed() const { return compressed_; }

  struct Record {
    std::string_view payload;  ///< Valid as long as the file is open.
    std::uint64_t payload_at;  ///< Its place in the file, in bytes.
    std::uint64_t end;         ///< Where the next record begins.
  };

  /// The record that begins at `offset`, both checksums compared; nothing at the end of the file.
  /// @throws DataError if it is cut or a checksum is wrong
  std::optional<Record> at(std::uint64_t offset) const;

  /// Where the record at `offset` ends, without a look at its payload: to find all records of a
  /// file, of which each is then read by `at`.
  /// @throws DataError as `at`
  std::optional<std::uint64_t> end_of(std::uint64_t offset) const;

  /// Where every record begins. Reads one page of the file for each, not the file.
  /// @throws DataError as `at`
  std::vector<std::uint64_t> record_offsets() const;

 private:
  std::string name_;
  MappedFile file_;
  bool compressed_ = false;
  std::vector<char> unpacked_;
  std::string_view bytes_;  ///< Of the file, or unpacked.
};

/// Writes a TFRecord file.
class TfRecordWriter {
 public:
  /// @param level of the compression, 1 (fast) to 9 (small)
  /// @throws UsageError if the file cannot be opened, or compressed by this build
  explicit TfRecordWriter(const std::string& path, Compression compression = Compression::none,
                          int level = 6);
  ~TfRecordWriter();

  void add(std::string_view payload);

  /// @throws std::runtime_error if not everything could be written
  void finish();

 private:
  class Deflater;

  void write_checked(std::string_view bytes);
  void write(std::string_view bytes);

  OutputFile out_;
  std::unique_ptr<Deflater> deflater_;  ///< Empty if the file is not compressed.
};

/// The records of several TFRecord files, numbered file after file.
///
/// Uncompressed files stay mapped, except in sets of very many files. A compressed file is unpacked
/// into memory, and kept as long as a reader's last record is in it; readers of the same file share
/// the data. So in random order each record of compressed files costs the unpacking of its file.
class TfRecordSet {
  struct OpenFile;

 public:
  /// @param threads look at files side by side
  /// @param records_per_file 0: count them; this reads a page of each record, and unpacks every
  ///        compressed file once
  /// @throws UsageError if a file cannot be opened, DataError if one is damaged
  TfRecordSet(const std::vector<std::string>& paths, int threads,
              std::uint64_t records_per_file = 0);
  ~TfRecordSet();

  std::uint64_t size() const { return first_.back(); }
  std::uint64_t bytes() const { return bytes_; }  ///< Of the files as they are, compressed or not.

  std::size_t files() const { return files_.size(); }
  const std::string& path(std::size_t file) const;
  std::uint64_t records_in(std::size_t file) const { return first_[file + 1] - first_[file]; }

  struct Record {
    std::string_view payload;  ///< Valid until the reader is asked again.
    std::uint64_t payload_at;  ///< Its place in the file, in bytes.
    const std::string& file;   ///< For messages: `TfRecordFile::name`.
    std::uint64_t offset;      ///< Of the record in the file.
  };

  /// Reads records, on one thread; each thread has its own. The set must live longer.
  class Reader {
   public:
    explicit Reader(const TfRecordSet& set) : set_(set) {}

    /// @throws DataError if there is no such record, it is damaged, or its file does not have the
    ///         expected number of records
    Record at(std::uint64_t index);

   private:
    const TfRecordSet& set_;
    std::size_t number_ = 0;
    std::shared_ptr<const OpenFile> file_;  ///< The one of that number; at first none.
  };

 private:
  struct File;

  std::shared_ptr<const OpenFile> open(std::size_t file) const;

  std::vector<std::unique_ptr<File>> files_;
  std::vector<std::uint64_t> first_{0};  ///< First record of each file, and of what would follow.
  std::uint64_t bytes_ = 0;
};

}  // namespace bench::steps
