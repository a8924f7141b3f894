#pragma once

#include <compare>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

namespace bench::setup {

/// SHA-256 of large files that seldom change, such as libraries. They are remembered by path, size
/// and time of modification in `bench/file_hashes` of the user's cache directory, so that each is
/// read once. Without such a directory nothing is remembered; beyond 10,000 files, only those that
/// were asked for last.
class FileHashes {
 public:
  FileHashes();
  FileHashes(const FileHashes&) = delete;
  FileHashes& operator=(const FileHashes&) = delete;
  /// Keeps what is new.
  ~FileHashes();

  /// @param bytes its size
  /// @param modified_ns its time of modification since 1970
  /// @returns nothing if it cannot be read
  std::optional<std::string> of(const std::filesystem::path& file, long long bytes,
                                long long modified_ns);

 private:
  using File = std::tuple<std::string, long long, long long>;  ///< Path, size, modification.

  std::filesystem::path memory_;  ///< Empty: there is none.
  std::map<File, std::string> known_;
  std::set<File> used_;
  bool changed_ = false;
};

}  // namespace bench::setup
