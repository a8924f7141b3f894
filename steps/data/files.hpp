#pragma once

#include "harness/errors.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

namespace bench::steps {

/// What can be done about most of them.
inline constexpr const char* damaged_data_hint =
    "the file is damaged, or of another format: copy or make it again";

/// A data file does not hold what its format asks for.
class DataError : public HintedError {
 public:
  /// @param offset of the first byte that is wrong, or of the record that it belongs to
  /// @param message what is wrong there, without a final full stop or newline
  DataError(const std::string& file, std::uint64_t offset, const std::string& message,
            const std::string& hint = damaged_data_hint)
      : HintedError(fmt::format("{}: byte {}: {}", file, offset, message), hint) {}

  /// @param record a file that is one record, or the name of a record where bytes say nothing
  DataError(const std::string& record, const std::string& message,
            const std::string& hint = damaged_data_hint)
      : HintedError(fmt::format("{}: {}", record, message), hint) {}
};

/// Refuses what needs a library that was missing when this program was built.
/// @param package of Debian
/// @param what begins the message: what cannot be done; may be empty
/// @throws UsageError
[[noreturn]] void refuse_without(const std::string& library, const std::string& package,
                                 const std::string& what = "");

/// The descriptor of a file, folder or socket, closed with this object.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0)
      ::close(fd_);
  }

  int get() const { return fd_; }  ///< Negative where it could not be opened.

 private:
  int fd_ = -1;
};

/// Opens a file or folder. Where that fails, errno says why.
/// @param flags of open(2); a file that is made can be read by all
inline Descriptor open_path(const std::string& path, int flags) {
  return Descriptor(::open(path.c_str(), flags | O_CLOEXEC, 0644));
}

/// A file that is written from its begin; a disk that is full is an error, not a short file.
class OutputFile {
 public:
  /// @throws UsageError if it cannot be opened
  explicit OutputFile(const std::string& path);

  void write(std::string_view bytes);

  /// The bytes of one number, little endian.
  template <typename Number>
  void write_number(Number number) {
    write({reinterpret_cast<const char*>(&number), sizeof(Number)});
  }

  /// Bytes so far.
  std::uint64_t size() const { return size_; }

  /// Must stand at the end: what the destructor cannot write, nobody is told of.
  /// @throws std::runtime_error if not everything could be written
  void close();

 private:
  std::string path_;
  std::ofstream out_;
  std::uint64_t size_ = 0;
};

/// A file that is read as if it were memory; what is never looked at is never read.
///
/// The file must keep its length as long as this object lives: reading behind the end of a file
/// that was cut meanwhile ends the process (SIGBUS).
class MappedFile {
 public:
  /// @param hint what to tell the user about a file that cannot be opened
  /// @throws UsageError if it cannot
  MappedFile(std::string path, const std::string& hint);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return bytes_.size(); }
  std::string_view bytes() const { return bytes_; }

  /// As long as this object lives, the system reads only the pages that are looked at: without, it
  /// reads far around each, in case the next ones are wanted too.
  class Scattered {
   public:
    explicit Scattered(const MappedFile& file);
    Scattered(const Scattered&) = delete;
    Scattered& operator=(const Scattered&) = delete;
    ~Scattered();

   private:
    std::string_view bytes_;
  };

 private:
  std::string path_;
  std::string_view bytes_;
};

/// Lets the system begin to read these bytes of a mapped file, all at once: asked for one page
/// after the other, a file system far away answers as often.
void will_read(std::string_view bytes);

/// The number that stands at `offset`, which need not be aligned, in the order of this machine. All
/// formats here are little endian, as are all machines that LibTorch runs on but IBM Z.
template <typename Number>
Number number_at(std::string_view bytes, std::uint64_t offset) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof(Number));
  return number;
}

/// The files of a data set, sorted by the bytes of their names.
/// @param path one file, a folder, or a pattern as in a shell: `data/202???01T*.nc`
/// @param endings of the files to take from a folder: `.h5`, `.hdf5`. Other files in it are
/// ignored,
///        and so are hidden ones.
/// @throws UsageError if it cannot be read, or there is no such file
std::vector<std::string> find_data_files(const std::string& path,
                                         std::span<const std::string_view> endings);

/// CRC-32C: polynomial 0x1EDC6F41, bits reflected, begins with all ones and is inverted at the end.
/// Source: RFC 3720, section 12.1 and appendix B.4. By the instruction of SSE 4.2 where the CPU has
/// it, else by tables.
/// @param before what came in front of the bytes: its checksum
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

/// The same by tables, on every CPU. Eight bytes at a time: Kounavis and Berry, A Systematic
/// Approach to Building High Performance Software-based CRC Generators (ISCC 2005).
std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t before = 0);

/// Asks the kernel to drop what this node keeps of files in memory, so that they are read from
/// their storage again (posix_fadvise, POSIX_FADV_DONTNEED). Pages that are in use, or not written
/// yet, stay. File systems in memory ignore it.
/// @throws UsageError if a file cannot be opened
void drop_cached_pages(std::span<const std::string> files);

/// Calls `work(i)` once for each 0 <= i < count, on up to `threads` threads, in no order.
///
/// After an exception no further call begins; of several the one of the lowest index is thrown on.
void for_each_index(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

}  // namespace bench::steps
