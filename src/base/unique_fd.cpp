#include <bench/base/unique_fd.hpp>

#include <unistd.h>

namespace bench {

UniqueFd::~UniqueFd() {
  if (fd_ >= 0)
    ::close(fd_);
}

}  // namespace bench
