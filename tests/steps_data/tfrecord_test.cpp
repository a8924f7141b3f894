#include "data/tfrecord.hpp"

#include "checksum/crc32c.hpp"
#include "data/files.hpp"
#include "data/parallel.hpp"
#include "data/zlib.hpp"
#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/hex.hpp"
#include "support/message_of.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <ios>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

struct ChecksumCase {
  std::string name;
  std::string bytes;
  std::uint32_t crc;
};
TEST(Crc32c, MatchesThePublishedOne) {
  // RFC 3720, appendix B.4, but for the nine digits, which every catalogue of checksums has.
  const ChecksumCase cases[] = {{"Digits", "123456789", 0xe3069283},
                                {"Zeros", std::string(32, '\0'), 0x8a9136aa},
                                {"Ones", std::string(32, '\xff'), 0x62a8ab43},
                                {"Nothing", "", 0}};
  for (const ChecksumCase& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(crc32c(c.bytes), c.crc);
    EXPECT_EQ(crc32c_by_tables(c.bytes), c.crc);
  }
}

TEST(Crc32c, IsTheSameByTablesAtEveryLength) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(crc32c(bytes), crc32c_by_tables(bytes)) << bytes.size();
    bytes += static_cast<char>(37 * i);
  }
}

TEST(Crc32c, GoesOnFromAPartBefore) {
  const std::string bytes = "123456789";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    EXPECT_EQ(crc32c(bytes.substr(cut), crc32c(bytes.substr(0, cut))), 0xe3069283) << cut;
    EXPECT_EQ(crc32c_by_tables(bytes.substr(cut), crc32c(bytes.substr(0, cut))), 0xe3069283);
  }
}

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
    EXPECT_EQ(support::message_of<DataError>([&] {
                for (std::uint64_t offset = 0; const auto record = file.at(offset);)
                  offset = record->end;
              }),
              folder.file("r") + ": " + c.message);
  }
}

using support::message_of;
using testing::HasSubstr;

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

}  // namespace
}  // namespace bench::steps
