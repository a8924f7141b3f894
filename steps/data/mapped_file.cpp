#include "data/mapped_file.hpp"

#include "data/open_path.hpp"
#include "harness/program.hpp"

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bench::steps {
namespace {

static_assert(std::endian::native == std::endian::little, "the formats here are little endian");

/// Advice may be ignored, and so is that it could not be given. Begins at the page of the first
/// byte.
void advise(std::string_view bytes, int advice) {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto before = reinterpret_cast<std::uintptr_t>(bytes.data()) % page;
  if (!bytes.empty())
    ::madvise(const_cast<char*>(bytes.data() - before), bytes.size() + before, advice);
}

}  // namespace

MappedFile::Scattered::Scattered(const MappedFile& file) : bytes_(file.bytes()) {
  advise(bytes_, MADV_RANDOM);
}

MappedFile::Scattered::~Scattered() {
  advise(bytes_, MADV_NORMAL);
}

void will_read(std::string_view bytes) {
  advise(bytes, MADV_WILLNEED);
}

MappedFile::MappedFile(std::string path, const std::string& hint) : path_(std::move(path)) {
  const auto fail = [&](int error) {
    throw UsageError(
        fmt::format("cannot read {}: {}", path_, std::generic_category().message(error)), hint);
  };
  const OpenPath file(path_, O_RDONLY);
  struct stat status = {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0)
    fail(errno);
  if (!S_ISREG(status.st_mode))
    fail(S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0)
    return;  // nothing to map, which mmap refuses
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED)
    fail(errno);
  bytes_ = {static_cast<const char*>(address), size};
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty())
    ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace bench::steps
