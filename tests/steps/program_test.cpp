#include "harness/program.hpp"

#include "support/sanitizer.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace bench::steps {
namespace {

// What malloc was told cannot be taken back: each case is a process of its own.
class KeepFreedMemoryDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    if (support::sanitized)
      GTEST_SKIP() << "a sanitizer brings its own malloc";
  }
};

/// Whether any part of the heap is marked for huge pages.
bool heap_asks_for_huge_pages() {
  std::ifstream maps("/proc/self/smaps");
  bool in_heap = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') < line.find(' '))
      in_heap = line.ends_with("[heap]");
    if (in_heap && line.starts_with("VmFlags:") && (line + ' ').find(" hg ") != std::string::npos)
      return true;
  }
  return false;
}

bool limit_heap(rlim_t bytes) {
  const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
  return ::setrlimit(RLIMIT_DATA, &limit) == 0;
}

TEST_F(KeepFreedMemoryDeathTest, AsksForHugePages) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage"))
    GTEST_SKIP() << "this kernel has no transparent huge pages";
  EXPECT_EXIT(
      {
        keep_freed_memory();
        std::_Exit(heap_asks_for_huge_pages() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(KeepFreedMemoryDeathTest, DoesWithoutWhereTheHeapMayNotGrow) {
  EXPECT_EXIT(
      {
        const bool limited = limit_heap(1U << 30);
        keep_freed_memory();
        constexpr std::size_t bytes = 32U << 20;
        void* const memory = std::malloc(bytes);
        std::_Exit(limited && memory && !heap_asks_for_huge_pages() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace bench::steps
