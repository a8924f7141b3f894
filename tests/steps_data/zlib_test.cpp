// Compressed TFRecord files, written with zlib itself.

#include "data/zlib.hpp"

#include "checksum/crc32c.hpp"
#include "data/files.hpp"
#include "data/tfrecord.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/hex.hpp"
#include "support/message_of.hpp"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <ios>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_ZLIB
#include <zlib.h>

namespace bench::steps {
namespace {

using support::message_of;

const std::string abc_text = unhex("0300000000000000 b099490e 616263 6e57f121");

/// @param bits of deflateInit2: 15 writes zlib, 31 gzip
std::string compressed(std::string_view bytes, int bits) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string as_gzip(std::string_view bytes) {
  return compressed(bytes, 31);
}

std::string as_zlib(std::string_view bytes) {
  return compressed(bytes, 15);
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A record of that many bytes which compress badly, so that zlib's blocks are passed.
std::string long_record(std::size_t size) {
  std::string payload;
  for (std::uint32_t state = 1; payload.size() < size; state = state * 1664525 + 1013904223)
    payload += static_cast<char>(state >> 24);
  const auto word = [](auto number) {
    return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
  };
  const std::string length = word(std::uint64_t{size});
  return length + word(masked_crc(crc32c(length))) + payload + word(masked_crc(crc32c(payload)));
}

struct CompressionCase {
  std::string name;
  std::string file;
  std::vector<std::uint64_t> offsets;
};
TEST(CompressedTfRecord, HasTheRecordsOfTheUnpackedFile) {
  const CompressionCase cases[] = {
      {"Gzip", as_gzip(abc_text + abc_text), {0, 19}},
      {"Zlib", as_zlib(abc_text + abc_text), {0, 19}},
      {"GzipOfTwoMembers", as_gzip(abc_text) + as_gzip(abc_text), {0, 19}},
      {"RecordInTwoMembers", as_gzip(abc_text.substr(0, 7)) + as_gzip(abc_text.substr(7)), {0}},
      {"LongRecord", as_gzip(abc_text + long_record(300'000) + abc_text), {0, 19, 300'035}},
      {"NoRecords", as_gzip(""), {}}};
  for (const CompressionCase& c : cases) {
    SCOPED_TRACE(c.name);
    const Folder folder;
    write_bytes(folder.file("r"), c.file);
    const TfRecordFile file(folder.file("r"));
    EXPECT_TRUE(file.compressed());
    EXPECT_EQ(file.name(), folder.file("r") + " (unpacked)");
    EXPECT_EQ(file.file_bytes(), c.file.size());
    EXPECT_EQ(file.record_offsets(), c.offsets);
    for (const std::uint64_t offset : c.offsets)
      EXPECT_TRUE(file.at(offset));
  }
}

TEST(CompressedTfRecord, KeepsItsPayloadWhenMoved) {
  const Folder folder;
  write_bytes(folder.file("r"), as_gzip(abc_text));
  TfRecordFile first(folder.file("r"));
  const TfRecordFile second(std::move(first));
  EXPECT_EQ(second.at(0).value().payload, "abc");
}

struct ZlibDamage {
  std::string name;
  std::string file;
  std::string message;
};
std::string changed(std::string bytes, const std::function<void(std::string&)>& change) {
  change(bytes);
  return bytes;
}

/// A record that claims 2^60 bytes, with the right checksum of its length.
std::string endless_record() {
  const std::uint64_t length = std::uint64_t{1} << 60;
  const std::string bytes(reinterpret_cast<const char*>(&length), sizeof(length));
  const std::uint32_t checksum = masked_crc(crc32c(bytes));
  return bytes + std::string(reinterpret_cast<const char*>(&checksum), sizeof(checksum)) + "abc";
}

const std::string long_gzip = as_gzip(long_record(300'000));

TEST(CompressedDamage, IsReportedWithItsPlace) {
  const ZlibDamage cases[] = {
      {"Cut", long_gzip.substr(0, 1000), ": byte 1000: the compressed data are incomplete"},
      {"CutInItsChecksum", as_zlib(abc_text).substr(0, as_zlib(abc_text).size() - 1),
       ": byte " + std::to_string(as_zlib(abc_text).size() - 1) +
           ": the compressed data are incomplete"},
      {"WrongChecksumOfGzip",
       changed(as_gzip(abc_text), [](std::string& file) { file[file.size() - 5] ^= 1; }),
       ": byte " + std::to_string(as_gzip(abc_text).size() - 4) +
           ": cannot unpack: incorrect data check"},
      {"WrongLengthOfGzip", changed(as_gzip(abc_text), [](std::string& file) { file.back() ^= 1; }),
       ": byte " + std::to_string(as_gzip(abc_text).size()) +
           ": cannot unpack: incorrect length check"},
      {"UnknownMethod", changed(as_gzip(abc_text), [](std::string& file) { file[2] = 7; }),
       ": byte 4: cannot unpack: unknown compression method"},
      {"DataBehind", as_gzip(abc_text) + "x",
       ": byte " + std::to_string(as_gzip(abc_text).size()) +
           ": unknown data after the end of the compressed data"},
      {"WrongChecksumOfARecord",
       as_gzip(abc_text + changed(abc_text, [](std::string& record) { record[12] ^= 1; })),
       " (unpacked): byte 19: record has a wrong checksum of its content"},
      {"CutRecord", as_gzip(abc_text.substr(0, 15)),
       " (unpacked): byte 0: record of 3 bytes ends behind the end of the file"},
      {"EndlessRecord", as_gzip(abc_text + endless_record()),
       " (unpacked): byte 19: record of 1152921504606846976 bytes ends behind the end "
       "of the file"}};
  for (const ZlibDamage& c : cases) {
    SCOPED_TRACE(c.name);
    const Folder folder;
    write_bytes(folder.file("r"), c.file);
    EXPECT_EQ(message_of<DataError>([&] {
                const TfRecordFile file(folder.file("r"));
                for (const std::uint64_t offset : file.record_offsets())
                  file.at(offset);
              }),
              folder.file("r") + c.message);
  }
}

class CompressedWriterTest : public testing::TestWithParam<Compression> {};

TEST_P(CompressedWriterTest, WritesWhatZlibUnpacks) {
  const Folder folder;
  const std::string payload(1'000'000, 'x');
  TfRecordWriter writer(folder.file("r"), GetParam());
  writer.add("abc");
  writer.add(payload);
  writer.finish();

  const std::string file = read_text(folder.file("r"));
  EXPECT_LT(file.size(), 10'000U);
  std::string bytes(2'000'000, '\0');
  z_stream stream = {};
  ASSERT_EQ(inflateInit2(&stream, GetParam() == Compression::gzip ? 31 : 15), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.data()));
  stream.avail_in = static_cast<uInt>(file.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  inflateEnd(&stream);
  EXPECT_EQ(hex(bytes.substr(0, 19)), hex(abc_text));
  EXPECT_EQ(bytes.substr(31, payload.size()), payload);
  EXPECT_EQ(bytes.size(), 19 + 12 + payload.size() + 4);
}

INSTANTIATE_TEST_SUITE_P(Formats, CompressedWriterTest,
                         testing::Values(Compression::gzip, Compression::zlib),
                         [](const auto& instance) {
                           return instance.param == Compression::gzip ? "Gzip" : "Zlib";
                         });

TEST(Unpack, TakesMemoryInProportionToTheData) {
  const std::string bytes(1'000'000, 'x');
  const std::vector<char> unpacked = unpack(as_gzip(bytes), "r");
  EXPECT_EQ(std::string(unpacked.begin(), unpacked.end()), bytes);
  EXPECT_LE(unpacked.capacity(), 2 * bytes.size() + 65'536);
  EXPECT_LE(unpack(as_gzip(abc_text), "r").capacity(), 65'536U);
}

}  // namespace
}  // namespace bench::steps
#endif
