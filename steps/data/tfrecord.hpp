#pragma once

#include "data/mapped_file.hpp"
#include "data/output_file.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {

/// The records of a TFRecord file, which has no header. Each is, little endian:
///
///     u64 n, u32 masked CRC-32C of those 8 bytes, n bytes, u32 masked CRC-32C of those n bytes
///
/// Source: TensorFlow's guide "TFRecord and tf.train.Example". Uncompressed files only.
class TfRecordFile {
 public:
  /// @throws UsageError if the file cannot be opened
  explicit TfRecordFile(const std::string& path);

  const std::string& path() const { return file_.path(); }
  std::uint64_t size() const { return file_.size(); }  ///< Bytes.

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
  MappedFile file_;
};

/// Writes a TFRecord file.
class TfRecordWriter {
 public:
  /// @throws UsageError if the file cannot be opened
  explicit TfRecordWriter(const std::string& path) : out_(path) {}

  void add(std::string_view payload);

  /// @throws std::runtime_error if not everything could be written
  void finish() { out_.close(); }

 private:
  OutputFile out_;
};

}  // namespace bench::steps
