#include "inherited_descriptors.hpp"

#include <array>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

// The headers of Linux before 5.9 lack it. The number is the same on all architectures.
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

namespace bench {
namespace {

constexpr unsigned close_range_cloexec = 4;

/// Of an entry of /proc/self/fd; -1 for `.` and `..`.
int descriptor_of(const char* name) {
  int number = *name >= '0' && *name <= '9' ? 0 : -1;
  for (; *name >= '0' && *name <= '9'; ++name)
    number = number * 10 + (*name - '0');
  return number;
}

/// By the system call itself, since opendir allocates. The layout is that of linux_dirent64,
/// getdents64(2): inode and offset, 8 bytes each, the entry's length, 2 bytes, its type, its name.
void mark_those_of(int directory) {
  constexpr std::size_t length_at = 16;
  constexpr std::size_t name_at = 19;
  alignas(8) std::array<char, 4096> entries;
  for (;;) {
    const long size = ::syscall(SYS_getdents64, directory, entries.data(), entries.size());
    if (size <= 0)
      return;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      unsigned short length = 0;
      std::memcpy(&length, entries.data() + at + length_at, sizeof length);
      if (const int fd = descriptor_of(entries.data() + at + name_at); fd > STDERR_FILENO)
        ::fcntl(fd, F_SETFD, FD_CLOEXEC);
      at += length;
    }
  }
}

}  // namespace

void close_inherited_descriptors_at_exec() {
  // Linux before 5.11 does not have it, a container may forbid it.
  if (::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, close_range_cloexec) == 0)
    return;
  const int directory = ::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return;
  mark_those_of(directory);
  ::close(directory);
}

}  // namespace bench
