#pragma once

#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace bench::steps {

/// The descriptor of a file or folder, closed with this object.
class OpenPath {
 public:
  /// @param flags of open(2); a file that is made can be read by all
  OpenPath(const std::string& path, int flags)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  OpenPath(const OpenPath&) = delete;
  OpenPath& operator=(const OpenPath&) = delete;
  ~OpenPath() {
    if (fd_ >= 0)
      ::close(fd_);
  }

  int get() const { return fd_; }  ///< Negative where it could not be opened; errno says why.

 private:
  int fd_;
};

}  // namespace bench::steps
