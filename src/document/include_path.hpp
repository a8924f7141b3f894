#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/document/read_options.hpp>

namespace bench::document {

/// Where one input file looks for others.
class IncludePath {
 public:
  IncludePath(const ReadOptions& options, const std::filesystem::path& input_file);

  /// Appends one entry of the `include-path` of `file`.
  void add(const std::string& directory, const std::filesystem::path& file);
  /// The path for a file that another one took in: its own directory is searched, too.
  IncludePath within(const std::filesystem::path& file) const;

  /// The first file of that name.
  /// @throws Error with `place` and the directories that were searched if there is none
  std::filesystem::path find(const std::string& name, const Place& place) const;

 private:
  using Directories = std::vector<std::filesystem::path>;

  Directories searched() const;

  Directories options_;
  Directories of_file_;
  Directories environment_;
  Directories beside_;
  Directories library_;
};

/// The file for comparisons: absolute, without links and dots.
std::filesystem::path identity(const std::filesystem::path& file);

}  // namespace bench::document
