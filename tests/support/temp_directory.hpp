#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <bench/base/files.hpp>

namespace bench::support {

/// A fresh directory that goes, with all that is in it, when this object does.
class TempDirectory {
 public:
  TempDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "bench_test.XXXXXX").string();
    if (!::mkdtemp(name.data()))
      throw std::runtime_error("cannot make " + name);
    path_ = std::filesystem::canonical(name);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

  /// Writes a file in here, directories on its way included, and returns its path.
  std::filesystem::path write(const std::string& name, const std::string& content) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    write_file_atomically(file, content);
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace bench::support
