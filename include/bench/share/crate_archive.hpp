#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
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

/// Whether bytes begin as a compressed file, an archive, or a format with compressed parts such as
/// HDF5 does.
bool is_compressed(std::string_view bytes);

/// Visits all files that a compressed file contains, also in archives within archives.
/// @returns false if a part could not be read: an unknown or encrypted format, or more than 1 GiB
bool visit_contained(std::string_view bytes,
                     const std::function<void(const std::string& contained)>& visit);

}  // namespace bench::crate
