#include "harness/memory.hpp"

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <fmt/core.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace bench::steps {
namespace {

constexpr int mib = 1 << 20;

/// Makes the heap 2 GiB larger, of which nothing is used yet, and asks for huge pages there. A heap
/// that grows later would need to be asked for again each time, and malloc does not tell.
void ask_for_huge_pages() {
  constexpr std::size_t larger_than_what_is_free = 16 * mib;
  constexpr std::uintptr_t huge_page = 2 * mib;
  if (::mallopt(M_TOP_PAD, INT_MAX) != 1)
    return;
  void* const first = std::malloc(larger_than_what_is_free);
  const auto end = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  const auto begin =
      (reinterpret_cast<std::uintptr_t>(first) + huge_page - 1) / huge_page * huge_page;
  std::free(first);
  // It is above the heap where the limit of the heap's size or of all memory is lower.
  if (first && begin < end)
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace

void keep_freed_memory() {
  constexpr int threshold_bytes = 1024 * mib;
  constexpr int older_limit_bytes = 32 * mib;  // some releases of glibc refuse more
  constexpr int top_pad_bytes = 64 * mib;
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
