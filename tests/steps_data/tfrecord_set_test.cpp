#include "data/files.hpp"
#include "data/parallel.hpp"
#include "data/tfrecord.hpp"
#include "data/zlib.hpp"
#include "harness/program.hpp"
#include "step_programs/program_runner.hpp"
#include "support/message_of.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

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
