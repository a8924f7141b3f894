#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace bench::steps {

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

}  // namespace bench::steps
