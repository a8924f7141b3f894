#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <bench/share/crate_archive.hpp>
#include <bench/share/secrets.hpp>

namespace bench::crate {

/// A file of the export.
struct PackedFile {
  std::string path;  ///< Relative to the export, with `/`.
  std::uintmax_t bytes = 0;
  std::string sha256;
};

/// A file that was left out of the export.
struct LeftOut {
  std::string path;
  std::string reason;
};

/// Adds files to an archive. Scrubs secrets from texts, and lists the files that are left out with
/// the reason. If a path is added twice, the first file is kept.
class Package {
 public:
  /// @param interrupted stops adding files when it becomes true; may be null
  Package(Archive& archive, Scrubber& scrubber, std::uintmax_t most_bytes,
          const std::atomic<bool>* interrupted)
      : archive_(archive),
        scrubber_(scrubber),
        most_bytes_(most_bytes),
        interrupted_(interrupted) {}

  /// Adds a text written by bench.
  void add_text(const std::string& path, const std::string& text);
  /// Adds a file that is scrubbed already, or contains no text of the run.
  void add_as_is(const std::string& path, std::string_view content);
  /// Adds a regular file in `directory`. Leaves it out if it is not regular, lies behind a link out
  /// of the directory, is too large, or contains a secret that cannot be replaced.
  void add_file(const std::string& path, const std::filesystem::path& directory,
                const std::filesystem::path& file);
  void leave_out(const std::string& path, const std::string& reason);

  bool is_interrupted() const { return interrupted_ && *interrupted_; }
  const std::vector<PackedFile>& files() const { return files_; }
  const std::vector<LeftOut>& left_out() const { return left_out_; }
  Scrubber& scrubber() const { return scrubber_; }

 private:
  Archive& archive_;
  Scrubber& scrubber_;
  std::uintmax_t most_bytes_;
  const std::atomic<bool>* interrupted_;
  std::vector<PackedFile> files_;
  std::vector<LeftOut> left_out_;
  std::set<std::string> paths_;
};

}  // namespace bench::crate
