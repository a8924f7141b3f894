#include "data/files.hpp"
#include "data/image_source.hpp"
#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"
#include "support/message_of.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_LMDB
#include <lmdb.h>
#endif

namespace bench::steps {
namespace {

using support::message_of;
using testing::HasSubstr;

#ifdef BENCH_STEPS_LMDB

constexpr std::size_t most_bytes = std::size_t{1} << 28;

std::string image_of(std::uint64_t index) {
  return std::string(index % 7 * 1000, static_cast<char>('a' + index % 26));
}

void write_images(const std::string& folder, std::uint64_t count) {
  const auto writer = make_lmdb_writer(folder, most_bytes);
  for (std::uint64_t i = 0; i < count; ++i)
    writer->add(static_cast<std::int64_t>(i * 15), image_of(i));
  writer->finish();
}

/// Puts one value into the environment, past the writer.
void put_raw(const std::string& folder, std::string key, std::string value) {
  MDB_env* environment = nullptr;
  MDB_txn* transaction = nullptr;
  MDB_dbi database = 0;
  MDB_val key_bytes = {key.size(), key.data()};
  MDB_val value_bytes = {value.size(), value.data()};
  ASSERT_EQ(mdb_env_create(&environment), 0);
  ASSERT_EQ(mdb_env_open(environment, folder.c_str(), MDB_NOLOCK, 0644), 0);
  ASSERT_EQ(mdb_txn_begin(environment, nullptr, 0, &transaction), 0);
  ASSERT_EQ(mdb_dbi_open(transaction, nullptr, 0, &database), 0);
  ASSERT_EQ(mdb_put(transaction, database, &key_bytes, &value_bytes, 0), 0);
  ASSERT_EQ(mdb_txn_commit(transaction), 0);
  mdb_env_close(environment);
}

TEST(LmdbImages, ReadsWhatWasWritten) {
  const Folder folder;
  write_images(folder.file("d"), 1000);
  const auto images = open_lmdb(folder.file("d"));
  EXPECT_EQ(images->images(), 1000U);
  const auto reader = images->reader();
  for (const std::uint64_t i : {0U, 999U, 256U, 255U, 7U}) {
    EXPECT_EQ(reader->at(i).label, static_cast<std::int64_t>(i * 15));
    EXPECT_EQ(reader->at(i).jpeg, image_of(i));
  }
}

TEST(LmdbImages, AreReadFromTheirFileAlone) {
  const Folder folder;
  write_images(folder.file("d"), 3);
  EXPECT_EQ(open_lmdb(folder.file("d/data.mdb"))->images(), 3U);
}

TEST(LmdbImages, AreWrittenInSeveralTransactions) {
  const Folder folder;
  write_images(folder.file("d"), 4097);
  const auto images = open_lmdb(folder.file("d"));
  EXPECT_EQ(images->images(), 4097U);
  EXPECT_EQ(images->reader()->at(4096).jpeg.size(), image_of(4096).size());
}

TEST(LmdbImages, AreReadByThreadsSideBySide) {
  const Folder folder;
  write_images(folder.file("d"), 200);
  const auto images = open_lmdb(folder.file("d"));
  std::vector<std::thread> threads;
  std::array<std::size_t, 3> bytes{};
  for (std::size_t& sum : bytes)
    threads.emplace_back([&images, &sum] {
      const auto reader = images->reader();
      for (std::uint64_t i = 0; i < images->images(); ++i)
        sum += reader->at(i).jpeg.size();
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_THAT(bytes, testing::Each(bytes[0]));
}

TEST(LmdbImages, NeedNoLockFile) {
  const Folder folder;
  write_images(folder.file("d"), 3);
  EXPECT_EQ(open_lmdb(folder.file("d"))->images(), 3U);
  EXPECT_FALSE(std::filesystem::exists(folder.file("d/lock.mdb")));
}

TEST(LmdbImages, NameTheImageThatIsMissing) {
  const Folder folder;
  write_images(folder.file("d"), 3);
  const auto images = open_lmdb(folder.file("d"));
  const auto reader = images->reader();
  EXPECT_THAT(message_of<DataError>([&] { reader->at(3); }),
              HasSubstr(folder.file("d") + ": image 3: MDB_NOTFOUND"));
}

TEST(LmdbImages, NameAnImageWithoutLabel) {
  const Folder folder;
  write_images(folder.file("d"), 3);
  put_raw(folder.file("d"), std::string("\0\0\0\0\0\0\0\1", 8), "x");
  const auto images = open_lmdb(folder.file("d"));
  const auto reader = images->reader();
  EXPECT_EQ(message_of<DataError>([&] { reader->at(1); }),
            folder.file("d") + ": image 1: 1 bytes, too few for a label");
}

TEST(LmdbImages, MustBeCounted) {
  const Folder folder;
  {
    const auto writer = make_lmdb_writer(folder.file("d"), most_bytes);
    for (int i = 0; i < 5000; ++i)
      writer->add(1, "x");  // of which 4096 are committed
  }
  EXPECT_THAT(message_of<DataError>([&] { open_lmdb(folder.file("d")); }),
              HasSubstr("the number of images, __len__, cannot be read: MDB_NOTFOUND"));
  put_raw(folder.file("d"), "__len__", "4k");
  EXPECT_THAT(message_of<DataError>([&] { open_lmdb(folder.file("d")); }),
              HasSubstr("__len__ is '4k', which is not a number"));
}

TEST(LmdbImages, MustNotBeCut) {
  const Folder folder;
  write_images(folder.file("d"), 100);
  std::filesystem::resize_file(folder.file("d/data.mdb"), 20'000);
  EXPECT_THAT(message_of<DataError>([&] { open_lmdb(folder.file("d")); }),
              HasSubstr(folder.file("d") + ": byte 20000: the file ends here, but needs "));
}

TEST(LmdbImages, MustNotBeEmpty) {
  const Folder folder;
  write_images(folder.file("d"), 3);
  std::filesystem::resize_file(folder.file("d/data.mdb"), 0);
  for (const char* name : {"d", "d/data.mdb"})
    EXPECT_EQ(message_of<DataError>([&] { open_lmdb(folder.file(name)); }),
              folder.file("d/data.mdb") + ": byte 0: the file is empty");
}

TEST(LmdbImages, RefuseAnotherFormat) {
  const Folder folder;
  std::ofstream(folder.file("d")) << std::string(100'000, 'x');
  EXPECT_THAT(message_of<DataError>([&] { open_lmdb(folder.file("d")); }),
              HasSubstr("no environment of LMDB: MDB_INVALID"));
}

TEST(LmdbImages, SayThatTheyAreMissing) {
  EXPECT_EQ(message_of<UsageError>([] { open_lmdb("/nowhere/d"); }),
            "cannot read /nowhere/d: No such file or directory");
}

TEST(LmdbImageWriter, LeavesWhatIsThere) {
  const Folder folder;
  write_images(folder.file("d"), 3);
  EXPECT_THROW(write_images(folder.file("d"), 4), UsageError);
  EXPECT_EQ(open_lmdb(folder.file("d"))->images(), 3U);
}

TEST(LmdbImageWriter, TakesTheAddressSpaceThereIs) {
  const Folder folder;
  const auto writer = make_lmdb_writer(folder.file("d"), std::size_t{1} << 60);
  writer->add(1, "x");
  writer->finish();
  EXPECT_EQ(open_lmdb(folder.file("d"))->images(), 1U);
}

TEST(LmdbImageWriter, SaysThatTheFileIsFull) {
  const Folder folder;
  const auto writer = make_lmdb_writer(folder.file("d"), 1 << 16);
  EXPECT_THAT(message_of<std::runtime_error>([&] { writer->add(1, std::string(1 << 17, 'x')); }),
              HasSubstr("cannot write " + folder.file("d") + ": MDB_MAP_FULL"));
}

#else

TEST(LmdbImages, SayThatTheBuildHasNone) {
  EXPECT_THROW(open_lmdb("/nowhere/d"), UsageError);
}

#endif

}  // namespace
}  // namespace bench::steps
