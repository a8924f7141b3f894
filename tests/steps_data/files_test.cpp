#include "data/files.hpp"

#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"
#include "support/message_of.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

namespace bench::steps {
namespace {

using support::message_of;
using testing::ElementsAre;

constexpr std::array<std::string_view, 2> endings = {".h5", ".hdf5"};

class DataFiles : public testing::Test {
 protected:
  DataFiles() {
    for (const char* name : {"b.h5", "a.hdf5", "C.h5", "a.txt", ".hidden.h5"})
      std::ofstream(folder_.file(name)).close();
  }

  Folder folder_;
};

TEST_F(DataFiles, OfAFolderAreSortedByBytes) {
  EXPECT_THAT(find_data_files(folder_.file(""), endings),
              ElementsAre(folder_.file("C.h5"), folder_.file("a.hdf5"), folder_.file("b.h5")));
}

TEST_F(DataFiles, OfAPatternMayHaveAnyEnding) {
  EXPECT_THAT(find_data_files(folder_.file("a.*"), endings),
              ElementsAre(folder_.file("a.hdf5"), folder_.file("a.txt")));
  EXPECT_THAT(find_data_files(folder_.file("?.h5"), endings),
              ElementsAre(folder_.file("C.h5"), folder_.file("b.h5")));
}

TEST_F(DataFiles, MayBeOneFile) {
  std::ofstream(folder_.file("with[brackets].h5")).close();
  for (const char* name : {"a.txt", "with[brackets].h5"})
    EXPECT_THAT(find_data_files(folder_.file(name), endings), ElementsAre(folder_.file(name)));
}

TEST_F(DataFiles, MustExist) {
  EXPECT_EQ(message_of<UsageError>([&] { find_data_files(folder_.file("d.h5"), endings); }),
            folder_.file("d.h5") + " does not exist");
  EXPECT_EQ(message_of<UsageError>([&] { find_data_files(folder_.file("d*.h5"), endings); }),
            "no file matches " + folder_.file("d*.h5"));
  const std::array<std::string_view, 2> others = {".nc", ".cdf"};
  EXPECT_EQ(message_of<UsageError>([&] { find_data_files(folder_.file(""), others); }),
            folder_.file("") + " has no files that end in .nc or .cdf");
}

/// Pages of a file that are in memory.
std::size_t cached_pages(const std::string& path) {
  const MappedFile file(path, "");
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident((file.bytes().size() + page - 1) / page);
  ::mincore(const_cast<char*>(file.bytes().data()), file.bytes().size(), resident.data());
  std::size_t count = 0;
  for (const unsigned char flags : resident)
    count += flags & 1;
  return count;
}

TEST(PageCache, DropsFilesThatAreWritten) {
  const Folder folder;
  const std::string path = folder.file("data");
  std::ofstream(path) << std::string(1 << 20, 'x');
  const int descriptor = ::open(path.c_str(), O_RDONLY);
  ::fsync(descriptor);
  ::close(descriptor);
  ASSERT_GT(cached_pages(path), 0U);
  drop_cached_pages(std::vector{path});
  if (cached_pages(path) ==
      (std::size_t{1} << 20) / static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)))
    GTEST_SKIP() << "this file system keeps all files in memory";
  EXPECT_EQ(cached_pages(path), 0U);
  EXPECT_EQ(read_text(path), std::string(1 << 20, 'x'));
}

TEST(PageCache, NamesAFileThatCannotBeOpened) {
  EXPECT_EQ(support::message_of<UsageError>(
                [] { drop_cached_pages(std::vector<std::string>{"no/such/file"}); }),
            "cannot read no/such/file: No such file or directory");
}

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

TEST(ForEachIndex, CallsOncePerIndex) {
  for (const int threads : {0, 1, 3, 100}) {
    std::vector<std::atomic<int>> calls(50);
    for_each_index(calls.size(), threads, [&](std::size_t i) { ++calls[i]; });
    EXPECT_THAT(std::vector<int>(calls.begin(), calls.end()), testing::Each(1)) << threads;
  }
}

TEST(ForEachIndex, ThrowsOnAndBeginsNothingMore) {
  for (const int threads : {1, 4}) {
    std::atomic<int> calls = 0;
    const auto work = [&](std::size_t i) {
      ++calls;
      if (i >= 5)
        throw std::runtime_error(std::to_string(i));
    };
    const std::string message =
        support::message_of<std::runtime_error>([&] { for_each_index(1000, threads, work); });
    EXPECT_THAT(message, testing::AnyOf("5", "6", "7", "8"));
    EXPECT_LE(calls, 5 + threads);
  }
}

}  // namespace

}  // namespace bench::steps
