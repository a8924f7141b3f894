// Put in front of the C library by LD_PRELOAD, it lets one call of a program for a file fail.
//
//     FAULT_ROOT   only calls for files below this folder count
//     FAULT_AT     the number of the call that fails, from 1 on
//     FAULT        its errno; or `short`: half of what was to be written is
//     FAULT_TIMES  how many calls fail from there on; without it 1
//     FAULT_STAYS  if set, all calls behind it fail, too
//     FAULT_STATS  if set, stat(2) counts, too
//     FAULT_COUNT  a file that gets the number of calls

#include "this_program_alone.hpp"  // IWYU pragma: keep

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace {

enum Kind { opens, writes, others };

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

class Faults {
 public:
  Faults()
      : root_(variable("FAULT_ROOT")),
        at_(std::atol(variable("FAULT_AT").c_str())),
        is_short_(variable("FAULT") == "short"),
        error_(std::atoi(variable("FAULT").c_str())),
        times_(std::max(1L, std::atol(variable("FAULT_TIMES").c_str()))),
        stays_(!variable("FAULT_STAYS").empty()),
        count_file_(variable("FAULT_COUNT")) {}
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;
  ~Faults() {
    root_.clear();
    if (!count_file_.empty())
      if (std::FILE* const out = std::fopen(count_file_.c_str(), "w")) {
        std::fprintf(out, "%ld\n", calls_.load());
        std::fclose(out);
      }
  }

  bool concerns(const char* path) const {
    return !root_.empty() && path && std::string_view(path).starts_with(root_);
  }
  bool concerns(int descriptor) const {
    if (root_.empty())
      return false;
    char target[4096];
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    const ssize_t length = ::readlink(link.c_str(), target, sizeof target - 1);
    if (length < 0)
      return false;
    target[length] = '\0';
    return concerns(target);
  }

  /// Counts a call that is concerned.
  /// @returns whether it fails; errno then says how
  bool fail(Kind kind) {
    const bool due = is_due(++calls_);
    const bool possible =
        !is_short_ && (error_ != EINTR || kind != others) && (error_ != EMFILE || kind == opens);
    if (due && possible)
      errno = error_;
    return due && possible;
  }

  /// How much of this is written, for a call that did not fail.
  std::size_t shortened(std::size_t size) const {
    return is_short_ && is_due(calls_) && size > 1 ? size / 2 : size;
  }

 private:
  bool is_due(long call) const { return at_ > 0 && call >= at_ && (stays_ || call < at_ + times_); }

  std::string root_;
  long at_;
  bool is_short_;
  int error_;
  long times_;
  bool stays_;
  std::string count_file_;
  std::atomic<long> calls_ = 0;
};

Faults faults;

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

mode_t mode_of(int flags, std::va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

// NOLINTBEGIN(cert-dcl50-cpp): the names and the forms are those of the C library.
extern "C" {

#define OPEN(name)                                                                     \
  int name(const char* path, int flags, ...) {                                         \
    std::va_list arguments;                                                            \
    va_start(arguments, flags);                                                        \
    const mode_t mode = mode_of(flags, arguments);                                     \
    va_end(arguments);                                                                 \
    static auto* const real = next<int(const char*, int, mode_t)>(#name);              \
    return faults.concerns(path) && faults.fail(opens) ? -1 : real(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                             \
  int name(int folder, const char* path, int flags, ...) {                                       \
    std::va_list arguments;                                                                      \
    va_start(arguments, flags);                                                                  \
    const mode_t mode = mode_of(flags, arguments);                                               \
    va_end(arguments);                                                                           \
    static auto* const real = next<int(int, const char*, int, mode_t)>(#name);                   \
    const bool concerned = faults.concerns(path) || (path[0] != '/' && faults.concerns(folder)); \
    return concerned && faults.fail(opens) ? -1 : real(folder, path, flags, mode);               \
  }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name)                                                                  \
  std::FILE* name(const char* path, const char* mode) {                              \
    static auto* const real = next<std::FILE*(const char*, const char*)>(#name);     \
    return faults.concerns(path) && faults.fail(opens) ? nullptr : real(path, mode); \
  }
FOPEN(fopen)
FOPEN(fopen64)

ssize_t write(int descriptor, const void* bytes, std::size_t size) {
  static auto* const real = next<ssize_t(int, const void*, std::size_t)>("write");
  if (!faults.concerns(descriptor))
    return real(descriptor, bytes, size);
  return faults.fail(writes) ? -1 : real(descriptor, bytes, faults.shortened(size));
}

#define PWRITE(name)                                                                           \
  ssize_t name(int descriptor, const void* bytes, std::size_t size, off_t offset) {            \
    static auto* const real = next<ssize_t(int, const void*, std::size_t, off_t)>(#name);      \
    if (!faults.concerns(descriptor))                                                          \
      return real(descriptor, bytes, size, offset);                                            \
    return faults.fail(writes) ? -1 : real(descriptor, bytes, faults.shortened(size), offset); \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

#define BY_DESCRIPTOR(name)                                                            \
  int name(int descriptor) {                                                           \
    static auto* const real = next<int(int)>(#name);                                   \
    return faults.concerns(descriptor) && faults.fail(others) ? -1 : real(descriptor); \
  }
BY_DESCRIPTOR(fsync)
BY_DESCRIPTOR(fdatasync)
BY_DESCRIPTOR(syncfs)

#define TRUNCATE(name)                                                                         \
  int name(int descriptor, off_t length) {                                                     \
    static auto* const real = next<int(int, off_t)>(#name);                                    \
    return faults.concerns(descriptor) && faults.fail(others) ? -1 : real(descriptor, length); \
  }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

int mkdir(const char* path, mode_t mode) {
  static auto* const real = next<int(const char*, mode_t)>("mkdir");
  return faults.concerns(path) && faults.fail(others) ? -1 : real(path, mode);
}

int mkdirat(int folder, const char* path, mode_t mode) {
  static auto* const real = next<int(int, const char*, mode_t)>("mkdirat");
  return (faults.concerns(path) || faults.concerns(folder)) && faults.fail(others)
             ? -1
             : real(folder, path, mode);
}

int stat(const char* path, struct stat* result) {
  static auto* const real = next<int(const char*, struct stat*)>("stat");
  static const bool counts = std::getenv("FAULT_STATS");
  return counts && faults.concerns(path) && faults.fail(others) ? -1 : real(path, result);
}

int rename(const char* from, const char* to) {
  static auto* const real = next<int(const char*, const char*)>("rename");
  return faults.concerns(to) && faults.fail(others) ? -1 : real(from, to);
}

int unlink(const char* path) {
  static auto* const real = next<int(const char*)>("unlink");
  return faults.concerns(path) && faults.fail(others) ? -1 : real(path);
}

int symlink(const char* target, const char* path) {
  static auto* const real = next<int(const char*, const char*)>("symlink");
  return faults.concerns(path) && faults.fail(others) ? -1 : real(target, path);
}

}  // extern "C"
// NOLINTEND(cert-dcl50-cpp)
