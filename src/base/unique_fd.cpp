#include <unistd.h>

#include <bench/base/unique_fd.hpp>

namespace bench {

UniqueFd::~UniqueFd() {
  if (fd_ >= 0)
    ::close(fd_);
}

}  // namespace bench
