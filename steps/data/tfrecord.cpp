#include "data/tfrecord.hpp"

#include "checksum/crc32c.hpp"
#include "data/data_error.hpp"
#include "data/mapped_file.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {
namespace {

constexpr std::uint64_t head_bytes = 12;
constexpr std::uint64_t checksum_bytes = 4;

/// The first two bytes of a GZIP file, and of the ZLIB files of the three usual levels.
bool looks_compressed(std::string_view bytes) {
  for (const std::string_view begin : {"\x1f\x8b", "\x78\x01", "\x78\x9c", "\x78\xda"})
    if (bytes.starts_with(begin))
      return true;
  return false;
}

}  // namespace

TfRecordFile::TfRecordFile(const std::string& path)
    : file_(path, "a TFRecord file is expected here") {}

std::optional<std::uint64_t> TfRecordFile::end_of(std::uint64_t offset) const {
  const auto fail = [&](const std::string& message) {
    throw DataError(path(), offset, "record " + message);
  };
  if (offset == file_.size())
    return std::nullopt;
  if (offset > file_.size() || file_.size() - offset < head_bytes)
    fail("ends inside its length");
  const std::string_view length_bytes = file_.bytes().substr(offset, 8);
  if (number_at<std::uint32_t>(file_.bytes(), offset + 8) != masked_crc(crc32c(length_bytes)))
    fail(offset == 0 && looks_compressed(length_bytes)
             ? "has a wrong checksum of its length: is the file compressed? Unpack it first"
             : "has a wrong checksum of its length");
  const auto length = number_at<std::uint64_t>(length_bytes, 0);
  const std::uint64_t rest = file_.size() - offset - head_bytes;
  if (rest < checksum_bytes || length > rest - checksum_bytes)
    fail(fmt::format("of {} bytes ends behind the end of the file", length));
  return offset + head_bytes + length + checksum_bytes;
}

std::optional<TfRecordFile::Record> TfRecordFile::at(std::uint64_t offset) const {
  const std::optional<std::uint64_t> end = end_of(offset);
  if (!end)
    return std::nullopt;
  will_read(file_.bytes().substr(offset, *end - offset));
  const std::uint64_t from = offset + head_bytes;
  const std::uint64_t checksum_at = *end - checksum_bytes;
  const std::string_view payload = file_.bytes().substr(from, checksum_at - from);
  if (number_at<std::uint32_t>(file_.bytes(), checksum_at) != masked_crc(crc32c(payload)))
    throw DataError(path(), offset, "record has a wrong checksum of its content");
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

void TfRecordWriter::add(std::string_view payload) {
  const std::uint64_t length = payload.size();
  const std::string_view length_bytes(reinterpret_cast<const char*>(&length), sizeof(length));
  out_.write(length_bytes);
  out_.write_number(masked_crc(crc32c(length_bytes)));
  out_.write(payload);
  out_.write_number(masked_crc(crc32c(payload)));
}

}  // namespace bench::steps
