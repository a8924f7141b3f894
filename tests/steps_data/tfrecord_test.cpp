#include "data/tfrecord.hpp"

#include "data/files.hpp"
#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/hex.hpp"
#include "support/message_of.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_ZLIB
#include <zlib.h>
#endif

namespace bench::steps {
namespace {

using support::message_of;

TEST(Crc32c, IsMasked) {
  EXPECT_EQ(masked_crc(0xe3069283), 0xc78ab0e5);
}

const std::string abc = unhex("0300000000000000 b099490e 616263 6e57f121");

TEST(TfRecordWriter, WritesTheKnownRecord) {
  const Folder folder;
  TfRecordWriter writer(folder.file("r"));
  writer.add("abc");
  writer.finish();
  EXPECT_EQ(hex(read_text(folder.file("r"))), hex(abc));
}

TEST(TfRecordFile, ReadsWhatWasWritten) {
  const Folder folder;
  TfRecordWriter writer(folder.file("r"));
  const std::vector<std::string> payloads = {"abc", "", std::string(100'000, 'x')};
  for (const std::string& payload : payloads)
    writer.add(payload);
  writer.finish();

  const TfRecordFile file(folder.file("r"));
  std::vector<std::string> read;
  std::uint64_t offset = 0;
  while (const auto record = file.at(offset)) {
    EXPECT_EQ(file.end_of(offset), record->end);
    EXPECT_EQ(record->payload_at, offset + 12);
    read.emplace_back(record->payload);
    offset = record->end;
  }
  EXPECT_EQ(read, payloads);
}

TEST(TfRecordFile, MayBeginLikeACompressedFile) {
  // A length of 0x9c78 bytes has the bytes of a zlib stream.
  const Folder folder;
  TfRecordWriter writer(folder.file("r"));
  writer.add(std::string(0x9c78, 'x'));
  writer.finish();
  const TfRecordFile file(folder.file("r"));
  EXPECT_FALSE(file.compressed());
  EXPECT_EQ(file.record_offsets().size(), 1U);
}

TEST(TfRecordFile, MayBeEmpty) {
  const Folder folder;
  TfRecordWriter(folder.file("r")).finish();
  EXPECT_FALSE(TfRecordFile(folder.file("r")).at(0));
}

TEST(TfRecordFile, SaysThatItIsMissing) {
  EXPECT_THROW(TfRecordFile("/nowhere/r"), UsageError);
}

/// What is wrong with the second of two records, each 19 bytes long.
struct RecordDamage {
  std::string name;
  std::function<void(std::string& file)> damage;
  std::string message;
};
TEST(TfRecordDamage, IsToldWithItsPlace) {
  const RecordDamage cases[] = {
      {"Length", [](std::string& file) { file[19] = 4; },
       "byte 19: record has a wrong checksum of its length"},
      {"LengthChecksum", [](std::string& file) { file[27] ^= 1; },
       "byte 19: record has a wrong checksum of its length"},
      {"Payload", [](std::string& file) { file[31] ^= 1; },
       "byte 19: record has a wrong checksum of its content"},
      {"PayloadChecksum", [](std::string& file) { file[37] ^= 1; },
       "byte 19: record has a wrong checksum of its content"},
      {"CutLength", [](std::string& file) { file.resize(30); },
       "byte 19: record ends inside its length"},
      {"CutPayload", [](std::string& file) { file.resize(33); },
       "byte 19: record of 3 bytes ends behind the end of the file"},
      {"CutChecksum", [](std::string& file) { file.resize(37); },
       "byte 19: record of 3 bytes ends behind the end of the file"},
      {"EndlessLength",
       [](std::string& file) {
         // Added to the offset it would overflow; its checksum is right.
         const std::string length(8, '\xff');
         const std::uint32_t checksum = masked_crc(crc32c(length));
         file.replace(19, 8, length);
         file.replace(27, 4, reinterpret_cast<const char*>(&checksum), 4);
       },
       "byte 19: record of 18446744073709551615 bytes ends behind the end of the file"},
      {"NeitherRecordsNorCompressed", [](std::string& file) { file.replace(0, 4, "text"); },
       "byte 0: record has a wrong checksum of its length"}};
  for (const RecordDamage& c : cases) {
    SCOPED_TRACE(c.name);
    const Folder folder;
    std::string bytes = abc + abc;
    c.damage(bytes);
    std::ofstream(folder.file("r"), std::ios::binary) << bytes;
    const TfRecordFile file(folder.file("r"));
    EXPECT_EQ(message_of<DataError>([&] {
                for (std::uint64_t offset = 0; const auto record = file.at(offset);)
                  offset = record->end;
              }),
              folder.file("r") + ": " + c.message);
  }
}

/// The compressions that this build has.
std::vector<Compression> built_compressions() {
#ifdef BENCH_STEPS_ZLIB
  return {Compression::none, Compression::gzip};
#else
  return {Compression::none};
#endif
}

/// Files with 3, 0 and 2 records, `0` to `4`.
std::vector<std::string> write_files(const Folder& folder, Compression compression) {
  std::vector<std::string> paths;
  int next = 0;
  for (const int records : {3, 0, 2}) {
    paths.push_back(folder.file(std::to_string(paths.size())));
    TfRecordWriter writer(paths.back(), compression);
    for (int i = 0; i < records; ++i)
      writer.add(std::to_string(next++));
    writer.finish();
  }
  return paths;
}

class TfRecordSetTest : public testing::TestWithParam<Compression> {};

TEST_P(TfRecordSetTest, NumbersRecordsFileAfterFile) {
  const Folder folder;
  const std::vector<std::string> paths = write_files(folder, GetParam());
  const TfRecordSet set(paths, 2);
  ASSERT_EQ(set.size(), 5U);
  EXPECT_EQ(set.records_in(0), 3U);
  EXPECT_EQ(set.records_in(1), 0U);
  std::uint64_t bytes = 0;
  for (const std::string& path : paths)
    bytes += std::filesystem::file_size(path);
  EXPECT_EQ(set.bytes(), bytes);
  TfRecordSet::Reader reader(set);
  for (const std::uint64_t i : {4U, 0U, 2U, 3U, 1U})
    EXPECT_EQ(reader.at(i).payload, std::to_string(i));
}

TEST_P(TfRecordSetTest, IsReadByManyThreads) {
  const Folder folder;
  const TfRecordSet set(write_files(folder, GetParam()), 1);
  std::vector<std::string> read(8 * set.size());
  for_each_index(8, 8, [&](std::size_t thread) {
    TfRecordSet::Reader reader(set);
    for (std::size_t i = 0; i < set.size(); ++i)
      read[thread * set.size() + i] = reader.at((i + thread) % set.size()).payload;
  });
  for (std::size_t thread = 0; thread < 8; ++thread)
    for (std::size_t i = 0; i < set.size(); ++i)
      EXPECT_EQ(read[thread * set.size() + i], std::to_string((i + thread) % set.size()));
}

TEST_P(TfRecordSetTest, TakesTheNumberOfRecordsFromTheCaller) {
  const Folder folder;
  const std::vector<std::string> paths = write_files(folder, GetParam());
  const TfRecordSet set({paths[0], paths[2], paths[0]}, 1, 3);
  EXPECT_EQ(set.size(), 9U);
  TfRecordSet::Reader reader(set);
  EXPECT_EQ(reader.at(8).payload, "2");
  EXPECT_EQ(message_of<DataError>([&] { reader.at(3); }), paths[2] + ": 2 records, expected 3");
}

INSTANTIATE_TEST_SUITE_P(Compressions, TfRecordSetTest, testing::ValuesIn(built_compressions()),
                         [](const auto& instance) {
                           return instance.param == Compression::none ? "None" : "Gzip";
                         });

TEST(TfRecordSet, RefusesARecordThatDoesNotExist) {
  const Folder folder;
  const std::vector<std::string> paths = write_files(folder, Compression::none);
  const TfRecordSet set(paths, 1);
  EXPECT_EQ(message_of<DataError>([&] { TfRecordSet::Reader(set).at(5); }),
            paths[2] + ": record 5 does not exist: there are 5 up to this file");
}

TEST(TfRecordSet, NamesAFileThatIsMissing) {
  EXPECT_EQ(message_of<UsageError>([&] { TfRecordSet({"/nowhere/r"}, 1); }),
            "cannot read /nowhere/r: No such file or directory");
  EXPECT_EQ(message_of<UsageError>([&] { TfRecordSet({"/nowhere/r"}, 1, 1); }),
            "cannot read /nowhere/r: No such file or directory");
}

TEST(TfRecordSet, NoticesADamagedFileWhenItCounts) {
  const Folder folder;
  const std::vector<std::string> paths = write_files(folder, Compression::none);
  std::filesystem::resize_file(paths[2], 20);
  EXPECT_EQ(message_of<DataError>([&] { TfRecordSet(paths, 2); }),
            paths[2] + ": byte 17: record ends inside its length");
}

#ifdef BENCH_STEPS_ZLIB  // Compressed files, written with zlib itself.

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
      {"Gzip", as_gzip(abc + abc), {0, 19}},
      {"Zlib", as_zlib(abc + abc), {0, 19}},
      {"GzipOfTwoMembers", as_gzip(abc) + as_gzip(abc), {0, 19}},
      {"RecordInTwoMembers", as_gzip(abc.substr(0, 7)) + as_gzip(abc.substr(7)), {0}},
      {"LongRecord", as_gzip(abc + long_record(300'000) + abc), {0, 19, 300'035}},
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
  write_bytes(folder.file("r"), as_gzip(abc));
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
      {"CutInItsChecksum", as_zlib(abc).substr(0, as_zlib(abc).size() - 1),
       ": byte " + std::to_string(as_zlib(abc).size() - 1) +
           ": the compressed data are incomplete"},
      {"WrongChecksumOfGzip",
       changed(as_gzip(abc), [](std::string& file) { file[file.size() - 5] ^= 1; }),
       ": byte " + std::to_string(as_gzip(abc).size() - 4) +
           ": cannot unpack: incorrect data check"},
      {"WrongLengthOfGzip", changed(as_gzip(abc), [](std::string& file) { file.back() ^= 1; }),
       ": byte " + std::to_string(as_gzip(abc).size()) + ": cannot unpack: incorrect length check"},
      {"UnknownMethod", changed(as_gzip(abc), [](std::string& file) { file[2] = 7; }),
       ": byte 4: cannot unpack: unknown compression method"},
      {"DataBehind", as_gzip(abc) + "x",
       ": byte " + std::to_string(as_gzip(abc).size()) +
           ": unknown data after the end of the compressed data"},
      {"WrongChecksumOfARecord",
       as_gzip(abc + changed(abc, [](std::string& record) { record[12] ^= 1; })),
       " (unpacked): byte 19: record has a wrong checksum of its content"},
      {"CutRecord", as_gzip(abc.substr(0, 15)),
       " (unpacked): byte 0: record of 3 bytes ends behind the end of the file"},
      {"EndlessRecord", as_gzip(abc + endless_record()),
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
  EXPECT_EQ(hex(bytes.substr(0, 19)), hex(abc));
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
  EXPECT_LE(unpack(as_gzip(abc), "r").capacity(), 65'536U);
}

#endif

}  // namespace
}  // namespace bench::steps
