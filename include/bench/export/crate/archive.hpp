#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace bench::crate {

/// Writes files into a directory or an archive. The bytes of an archive depend only on names and
/// contents: owner, time and mode are fixed. The output appears under its name only when it is
/// complete.
class Archive {
 public:
  virtual ~Archive() = default;
  /// @param path relative, with `/`
  /// @throws Error if it cannot be written
  virtual void add(const std::filesystem::path& path, std::string_view content) = 0;
  /// Nothing can be added afterwards.
  virtual void finish() = 0;
};

/// By extension: `.tar`, `.tar.gz`, `.tgz` and `.zip` are archives, everything else is a directory.
bool is_archive(const std::filesystem::path& output);

/// @param root name of the directory in an archive
/// @throws Error if the name is taken, or it cannot be created
std::unique_ptr<Archive> make_archive(const std::filesystem::path& output,
                                      const std::filesystem::path& root);

}  // namespace bench::crate
