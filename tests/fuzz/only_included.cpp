#include "only_included.hpp"

#include <cerrno>
#include <cstdarg>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bench::fuzz {
namespace {

bool guarded = false;

bool is_included(const std::filesystem::path& file) {
  return file.lexically_normal().parent_path() == included();
}

}  // namespace

const std::filesystem::path& included() {
  static const std::filesystem::path directory = INCLUDED_DIRECTORY;
  return directory;
}

OnlyIncluded::OnlyIncluded() {
  guarded = true;
}

OnlyIncluded::~OnlyIncluded() {
  guarded = false;
}

}  // namespace bench::fuzz

// Stands in front of the C library's, for all of this program.
extern "C" int open(const char* file, int flags, ...) {
  if (bench::fuzz::guarded && !bench::fuzz::is_included(file)) {
    errno = EACCES;
    return -1;
  }
  std::va_list rest;
  va_start(rest, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(rest, int) : 0;
  va_end(rest);
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, file, flags, mode));
}
