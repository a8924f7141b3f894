#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace bench::steps {

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

}  // namespace bench::steps
