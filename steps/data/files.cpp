#include "data/files.hpp"

#include "harness/errors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <ios>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bench::steps {

void refuse_without(const std::string& library, const std::string& package,
                    const std::string& what) {
  throw UsageError(
      fmt::format("{}{}this program was built without {}", what, what.empty() ? "" : ": ", library),
      fmt::format("install it (Debian: {}) and build again", package));
}

OutputFile::OutputFile(const std::string& path)
    : path_(path), out_(path, std::ios::binary | std::ios::trunc) {
  if (!out_)
    throw UsageError(fmt::format("cannot write {}", path),
                     "give a file in a folder that exists and can be written");
}

void OutputFile::write(std::string_view bytes) {
  out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  size_ += bytes.size();
}

void OutputFile::close() {
  out_.close();
  if (!out_)
    throw std::runtime_error(fmt::format("cannot write {} to its end", path_));
}

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
  const Descriptor file = open_path(path_, O_RDONLY);
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

namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_in(const std::string& folder,
                                  std::span<const std::string_view> endings) {
  const auto wanted = [&](const std::string& name) {
    return !name.starts_with(".") && std::ranges::any_of(endings, [&](std::string_view ending) {
      return name.ends_with(ending);
    });
  };
  std::vector<std::string> files;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (wanted(entry.path().filename().string()))
        files.push_back(entry.path().string());
  } catch (const fs::filesystem_error& error) {
    throw UsageError(fmt::format("cannot read {}: {}", folder, error.code().message()),
                     "give a folder that you can read");
  }
  std::ranges::sort(files);
  return files;
}

std::vector<std::string> files_like(const std::string& pattern) {
  glob_t found = {};
  const std::unique_ptr<glob_t, decltype(&::globfree)> owner(&found, &::globfree);
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0)
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  std::ranges::sort(files);  // glob's order depends on the locale
  return files;
}

}  // namespace

std::vector<std::string> find_data_files(const std::string& path,
                                         std::span<const std::string_view> endings) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    std::vector<std::string> files = files_in(path, endings);
    if (files.empty())
      throw UsageError(
          fmt::format("{} has no files that end in {}", path, fmt::join(endings, " or ")),
          "give the folder with the data, or a pattern such as '*.dat'");
    return files;
  }
  if (fs::exists(path, ignored))
    return {path};
  std::vector<std::string> files = files_like(path);
  if (files.empty())
    throw UsageError(path.find_first_of("*?[") == std::string::npos
                         ? fmt::format("{} does not exist", path)
                         : fmt::format("no file matches {}", path),
                     "give a file, a folder, or a pattern in quotes");
  return files;
}

void drop_cached_pages(std::span<const std::string> files) {
  for (const std::string& file : files) {
    const Descriptor opened = open_path(file, O_RDONLY);
    if (opened.get() < 0)
      throw UsageError(
          fmt::format("cannot read {}: {}", file, std::generic_category().message(errno)),
          "give files that you can read");
    ::posix_fadvise(opened.get(), 0, 0, POSIX_FADV_DONTNEED);
  }
}

namespace {

using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;

/// Row 0 is what a byte does to the checksum, row k what it does if k more bytes follow.
constexpr CrcTables make_crc_tables() {
  constexpr std::uint32_t polynomial = 0x82f63b78;  // reflected
  CrcTables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t row = 1; row < tables.size(); ++row)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[row - 1][byte];
      tables[row][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  return tables;
}

constexpr CrcTables crc_tables = make_crc_tables();

#ifdef __x86_64__
__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(std::string_view bytes,
                                                                      std::uint32_t before) {
  std::uint64_t crc = ~before;
  for (; bytes.size() >= 8; bytes.remove_prefix(8))
    crc = __builtin_ia32_crc32di(crc, number_at<std::uint64_t>(bytes, 0));
  auto narrow = static_cast<std::uint32_t>(crc);
  for (const char byte : bytes)
    narrow = __builtin_ia32_crc32qi(narrow, static_cast<unsigned char>(byte));
  return ~narrow;
}
#endif

auto fastest_crc32c() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("sse4.2"))
    return crc32c_by_instruction;
#endif
  return crc32c_by_tables;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  static const auto function = fastest_crc32c();
  return function(bytes, before);
}

std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    const std::uint64_t word = number_at<std::uint64_t>(bytes, 0) ^ crc;
    crc = 0;
    for (std::size_t byte = 0; byte < 8; ++byte)
      crc ^= crc_tables[7 - byte][(word >> (8 * byte)) & 0xff];
  }
  for (const char byte : bytes)
    crc = (crc >> 8) ^ crc_tables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

void for_each_index(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::mutex mutex;
  std::size_t next = 0;
  std::size_t failed = count;
  std::exception_ptr failure;
  const auto work_on = [&] {
    for (std::unique_lock lock(mutex); next < count && !failure;) {
      const std::size_t index = next++;
      lock.unlock();
      std::exception_ptr error;
      try {
        work(index);
      } catch (...) {  // nothing may leave a thread; thrown on below
        error = std::current_exception();
      }
      lock.lock();
      if (error && index < failed) {
        failed = index;
        failure = error;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    const std::size_t wanted = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
    for (std::size_t i = 1; i < wanted; ++i)
      others.emplace_back(work_on);
    work_on();
  }
  if (failure)
    std::rethrow_exception(failure);
}

}  // namespace bench::steps
