#include "data/page_cache.hpp"

#include "data/open_path.hpp"
#include "harness/program.hpp"

#include <cerrno>
#include <span>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>

namespace bench::steps {

void drop_cached_pages(std::span<const std::string> files) {
  for (const std::string& file : files) {
    const OpenPath opened(file, O_RDONLY);
    if (opened.get() < 0)
      throw UsageError(
          fmt::format("cannot read {}: {}", file, std::generic_category().message(errno)),
          "give files that you can read");
    ::posix_fadvise(opened.get(), 0, 0, POSIX_FADV_DONTNEED);
  }
}

}  // namespace bench::steps
