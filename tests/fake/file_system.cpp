// Put in front of a program with LD_PRELOAD, makes one directory look as if it lay on another file
// system. FAKE_FILE_SYSTEM is the directory, FAKE_FILE_SYSTEM_TYPE the magic number that statfs(2)
// reports for what is in it, in hexadecimal; with FAKE_FILE_SYSTEM_WITHOUT_LOCKS nothing in it can
// be locked. With FAKE_FILE_SYSTEM_HANGS nobody answers there, neither to the program nor to what
// it starts, like an NFS server that is gone.

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdlib>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
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
  return original<int(const char*, mode_t)>("mkdir")(path, mode);
}

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
