#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace bench::crate {

/// Files that are written into a directory, or into an archive whose bytes depend on nothing but
/// the names and contents: owner, time and mode of all are the same. Both appear under their name
/// once all is written, and not at all if it is not.
class Archive {
 public:
  virtual ~Archive() = default;
  /// @param path relative, with `/`
  /// @throws Error if it cannot be written
  virtual void add(const std::filesystem::path& path, std::string_view content) = 0;
  /// Nothing can be added afterwards.
  virtual void finish() = 0;
};

/// By the ending: `.tar`, `.tar.gz`, `.tgz` and `.zip` are archives, the rest are directories.
bool is_archive(const std::filesystem::path& output);

/// @param root name of the directory in an archive
/// @throws Error if there is something under the name, or it cannot be made
std::unique_ptr<Archive> make_archive(const std::filesystem::path& output,
                                      const std::filesystem::path& root);

}  // namespace bench::crate
