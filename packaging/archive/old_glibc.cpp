// What the static libraries of Debian 12's GCC take from glibc 2.30 to 2.36, for programs that run
// with glibc 2.28. Linked into those of the release archive alone, see scripts/package.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

namespace {

/// The result of _dl_find_object, as the manual of glibc 2.35 has it for x86-64 and AArch64.
struct FoundObject {
  unsigned long long flags;
  void* map_start;
  void* map_end;
  link_map* map;
  void* eh_frame;
  unsigned long long reserved[7];
};

struct Search {
  std::uintptr_t address;
  FoundObject* result;
};

/// Nonzero ends the iteration.
int look_into(dl_phdr_info* object, size_t, void* data) {
  auto* const search = static_cast<Search*>(data);
  bool found = false;
  void* eh_frame = nullptr;
  for (int k = 0; k < object->dlpi_phnum; ++k) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[k];
    const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_EH_FRAME)
      eh_frame = reinterpret_cast<void*>(begin);
    if (segment.p_type != PT_LOAD || search->address < begin ||
        search->address - begin >= segment.p_memsz)
      continue;
    found = true;
    search->result->map_start = reinterpret_cast<void*>(begin);
    search->result->map_end = reinterpret_cast<void*>(begin + segment.p_memsz);
  }
  if (!found || eh_frame == nullptr)
    return 0;
  search->result->eh_frame = eh_frame;
  return 1;
}

constexpr long ns_per_s = 1'000'000'000;

long long ns_of(const timespec& time) {
  return time.tv_sec * static_cast<long long>(ns_per_s) + time.tv_nsec;
}

long long now_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return ns_of(time);
}

}  // namespace

extern "C" {

/// Atomic operations also where there is one thread.
char __libc_single_threaded = 0;

// By another name here, since headers of newer glibc declare it with their own type.
int find_object(void* address, FoundObject* result) asm("_dl_find_object");
int find_object(void* address, FoundObject* result) {
  *result = {};
  Search search{reinterpret_cast<std::uintptr_t>(address), result};
  return dl_iterate_phdr(look_into, &search) == 1 ? 0 : -1;
}

void arc4random_buf(void* buffer, size_t size) noexcept {
  constexpr size_t most = 256;  // of getentropy
  auto* const bytes = static_cast<char*>(buffer);
  for (size_t at = 0; at < size; at += most) {
    char* const rest = bytes + at;
    const size_t part = std::min(size - at, most);
    if (getentropy(rest, part) == 0)
      continue;
    const int device = open("/dev/urandom", O_RDONLY | O_CLOEXEC);  // getrandom may be forbidden
    if (device < 0 || read(device, rest, part) != static_cast<ssize_t>(part))
      std::abort();
    close(device);
  }
}

std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  arc4random_buf(&number, sizeof number);
  return number;
}

/// A wait that a step of the wall clock ended early counts as a spurious wake-up.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* deadline) {
  const long long wall_ns = now_ns(CLOCK_REALTIME) + ns_of(*deadline) - now_ns(clock);
  const timespec wall{static_cast<time_t>(wall_ns / ns_per_s), wall_ns % ns_per_s};
  const int error = pthread_cond_timedwait(condition, mutex, &wall);
  return error == ETIMEDOUT && now_ns(clock) < ns_of(*deadline) ? 0 : error;
}
}
