#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <bench/export/crate/archive.hpp>
#include <bench/export/crate/secrets.hpp>

namespace bench::crate {

/// A file of the export.
struct PackedFile {
  std::string path;  ///< Relative to the export, with `/`.
  std::uintmax_t bytes = 0;
  std::string sha256;
};

/// A file that the export lacks.
struct LeftOut {
  std::string path;
  std::string reason;
};

/// Puts files into an archive: texts without their secrets, and what is not to be exported on a
/// list with the reason. Of several files with one path the first counts.
class Package {
 public:
  /// @param interrupted once it is true, nothing is added any more; null: never
  Package(Archive& archive, Scrubber& scrubber, std::uintmax_t most_bytes,
          const std::atomic<bool>* interrupted)
      : archive_(archive),
        scrubber_(scrubber),
        most_bytes_(most_bytes),
        interrupted_(interrupted) {}

  /// A text that bench has written.
  void add_text(const std::string& path, const std::string& text);
  /// A file that has been scrubbed, or has no texts of others.
  void add_as_is(const std::string& path, std::string_view content);
  /// A regular file in `directory` that no link leads out of; left out if it is another, too large,
  /// or holds a secret that cannot be replaced.
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
