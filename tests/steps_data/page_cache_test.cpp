#include "data/files.hpp"
#include "harness/program.hpp"
#include "step_programs/program_runner.hpp"
#include "support/message_of.hpp"

#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace bench::steps {
namespace {

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

}  // namespace
}  // namespace bench::steps
