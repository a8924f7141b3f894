// Put in front of a program with LD_PRELOAD, makes one directory look as if it lay on another file
// system. FAKE_FILE_SYSTEM is the directory, FAKE_FILE_SYSTEM_TYPE the magic number that statfs(2)
// reports for what is in it, in hexadecimal; with FAKE_FILE_SYSTEM_WITHOUT_LOCKS nothing in it can
// be locked. With FAKE_FILE_SYSTEM_HANGS nobody answers there, neither to the program nor to what
// it starts, like an NFS server that is gone. With FAKE_FILE_SYSTEM_FULL files can be made but not
// written, with FAKE_FILE_SYSTEM_READ_ONLY neither.

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace {

[[gnu::constructor]] void leave_children_alone() {
  if (!std::getenv("FAKE_FILE_SYSTEM_HANGS"))
    ::unsetenv("LD_PRELOAD");
}

/// The function of this name that the program would have called without us.
template <class Function>
Function* original(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool is_inside(const char* path) {
  const char* directory = std::getenv("FAKE_FILE_SYSTEM");
  char real[PATH_MAX];
  return directory && ::realpath(path, real) && std::string(real).starts_with(directory);
}

/// Also of a file that does not exist.
bool is_or_would_be_inside(const char* path) {
  const std::string_view name(path);
  const auto slash = name.find_last_of('/');
  return is_inside(path) ||
         is_inside(slash == std::string_view::npos ? "." : std::string(name, 0, slash + 1).c_str());
}

bool refuses_to_open(const char* path, int flags) {
  const bool changes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0;
  if (!changes || !std::getenv("FAKE_FILE_SYSTEM_READ_ONLY") || !is_or_would_be_inside(path))
    return false;
  errno = EROFS;
  return true;
}

bool is_full(int fd) {
  if (!std::getenv("FAKE_FILE_SYSTEM_FULL") ||
      !is_inside(("/proc/self/fd/" + std::to_string(fd)).c_str()))
    return false;
  errno = ENOSPC;
  return true;
}

mode_t mode_of(int flags, std::va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

void wait_for_answer(const char* path) {
  while (std::getenv("FAKE_FILE_SYSTEM_HANGS") && is_inside(path))
    ::pause();
}

bool cannot_be_locked(int fd) {
  return std::getenv("FAKE_FILE_SYSTEM_WITHOUT_LOCKS") &&
         is_inside(("/proc/self/fd/" + std::to_string(fd)).c_str());
}

template <class Status>
int report(const char* name, const char* path, Status* status) {
  wait_for_answer(path);
  const int result = original<int(const char*, Status*)>(name)(path, status);
  const char* type = std::getenv("FAKE_FILE_SYSTEM_TYPE");
  if (result == 0 && type && is_inside(path))
    status->f_type = std::strtol(type, nullptr, 16);
  return result;
}

int control(const char* name, int fd, int command, void* argument) {
  if ((command == F_SETLK || command == F_SETLKW || command == F_GETLK) && cannot_be_locked(fd)) {
    errno = ENOSYS;
    return -1;
  }
  return original<int(int, int, ...)>(name)(fd, command, argument);
}

}  // namespace

extern "C" {

int mkdir(const char* path, mode_t mode) noexcept {
  const auto slash = std::string_view(path).find_last_of('/');
  wait_for_answer(slash == std::string_view::npos ? "." : std::string(path, slash + 1).c_str());
  if (refuses_to_open(path, O_CREAT))
    return -1;
  return original<int(const char*, mode_t)>("mkdir")(path, mode);
}

#define OPEN(name)                                                                  \
  int name(const char* path, int flags, ...) {                                      \
    std::va_list rest;                                                              \
    va_start(rest, flags);                                                          \
    const mode_t mode = mode_of(flags, rest);                                       \
    va_end(rest);                                                                   \
    return refuses_to_open(path, flags)                                             \
               ? -1                                                                 \
               : original<int(const char*, int, mode_t)>(#name)(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

int access(const char* path, int mode) noexcept {
  if ((mode & W_OK) != 0 && refuses_to_open(path, O_WRONLY))
    return -1;
  return original<int(const char*, int)>("access")(path, mode);
}

ssize_t write(int fd, const void* bytes, std::size_t size) {
  return is_full(fd) ? -1
                     : original<ssize_t(int, const void*, std::size_t)>("write")(fd, bytes, size);
}

#define PWRITE(name)                                                                     \
  ssize_t name(int fd, const void* bytes, std::size_t size, off_t offset) {              \
    return is_full(fd) ? -1                                                              \
                       : original<ssize_t(int, const void*, std::size_t, off_t)>(#name)( \
                             fd, bytes, size, offset);                                   \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

int statfs(const char* path, struct statfs* status) noexcept {
  return report("statfs", path, status);
}

int statfs64(const char* path, struct statfs64* status) noexcept {
  return report("statfs64", path, status);
}

int flock(int fd, int operation) noexcept {
  if (cannot_be_locked(fd)) {
    errno = ENOSYS;
    return -1;
  }
  return original<int(int, int)>("flock")(fd, operation);
}

int fcntl(int fd, int command, ...) {
  std::va_list rest;
  va_start(rest, command);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  return control("fcntl", fd, command, argument);
}

int fcntl64(int fd, int command, ...) {
  std::va_list rest;
  va_start(rest, command);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  return control("fcntl64", fd, command, argument);
}

}  // extern "C"
