#pragma once

#include <span>
#include <string>

namespace bench::steps {

/// Asks the kernel to drop what this node keeps of files in memory, so that they are read from
/// their storage again (posix_fadvise, POSIX_FADV_DONTNEED). Pages that are in use, or not written
/// yet, stay. File systems in memory ignore it.
/// @throws UsageError if a file cannot be opened
void drop_cached_pages(std::span<const std::string> files);

}  // namespace bench::steps
