#include "data/tfrecord.hpp"

#include "checksum/crc32c.hpp"
#include "data/data_error.hpp"
#include "data/mapped_file.hpp"
#include "data/zlib.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {
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
    deflater_.emplace(compression, level);
}

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

}  // namespace bench::steps
