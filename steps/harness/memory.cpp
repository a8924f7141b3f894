#include "harness/memory.hpp"

#include <climits>
#include <cstddef>
#include <cstdlib>
#include <memory>

#include <fmt/core.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace bench::steps {
namespace {

/// Makes the heap 2 GiB larger, of which nothing is used yet, and asks for huge pages there. A heap
/// that grows later would need to be asked for again each time, and malloc does not tell.
void ask_for_huge_pages() {
  constexpr std::size_t larger_than_what_is_free = 16 << 20;
  constexpr std::size_t huge_page = 2 << 20;
  if (::mallopt(M_TOP_PAD, INT_MAX) != 1)
    return;
  const std::unique_ptr<void, void (*)(void*)> first(std::malloc(larger_than_what_is_free),
                                                     &std::free);
  const auto* const end = static_cast<char*>(::sbrk(0));
  void* begin = first.get();
  // It lies above the heap where the heap, or all memory, may not become so large.
  if (!begin || begin >= end)
    return;
  auto bytes = static_cast<std::size_t>(end - static_cast<char*>(begin));
  if (std::align(huge_page, huge_page, begin, bytes))
    ::madvise(begin, bytes, MADV_HUGEPAGE);
}

}  // namespace

void keep_freed_memory() {
  constexpr int threshold_bytes = 1 << 30;
  constexpr int older_limit_bytes = 32 << 20;  // some releases of glibc refuse more
  constexpr int top_pad_bytes = 64 << 20;
  bool set = ::mallopt(M_MMAP_THRESHOLD, threshold_bytes) == 1 ||
             ::mallopt(M_MMAP_THRESHOLD, older_limit_bytes) == 1;
  set = ::mallopt(M_TRIM_THRESHOLD, INT_MAX) == 1 && set;
  ask_for_huge_pages();
  set = ::mallopt(M_TOP_PAD, top_pad_bytes) == 1 && set;
  if (!set)
    fmt::print(stderr,
               "warning: malloc does not take its thresholds; CPU steps may be 1.5 times slower\n");
}

}  // namespace bench::steps
