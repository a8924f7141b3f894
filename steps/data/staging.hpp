#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench::steps {

/// Files below a folder, by their names in it.
struct FileList {
  std::vector<std::string> folders;  ///< That must exist, parents before children.
  std::vector<std::string> files;
};

/// A copy of a data set on storage that is nearer.
struct Staged {
  std::string folder;              ///< Where the copy lies.
  std::uint64_t copied_bytes = 0;  ///< By this call; 0 if somebody had made the copy.
};

/// Copies files to `into`, for example a node's own disk, unless a complete copy lies there.
///
/// The copy is `into/NAME-XXXXXXXXXXXXXXXX`: the name of the folder that is copied, and a hash of
/// its path and of the names, lengths and times of its files, so that another data set or a new one
/// of the same name gets its own copy. It gets that name when it is complete and on the disk:
/// until then it is `...partial`, which nobody reads and the next call removes. Of several
/// processes of a node that ask for the same copy, one makes it and the others wait (a lock on
/// `....lock`, which stays there and which the kernel opens should the process die).
///
/// @param threads that copy side by side
/// @throws UsageError if `into` cannot be used or has too little space left
/// @throws std::runtime_error if a file cannot be copied; nothing of the copy is left behind
Staged stage(const std::string& from, const FileList& files, const std::string& into, int threads);

/// Copies of files.
struct StagedFiles {
  std::string folder;                   ///< Where the copies lie.
  std::vector<std::string> files = {};  ///< In the order of the originals.
  std::uint64_t copied_bytes = 0;       ///< By this call.
};

/// The same for files by their paths, which may lie in several folders.
/// @param files at least one
StagedFiles stage_files(const std::vector<std::string>& files, const std::string& into,
                        int threads);

}  // namespace bench::steps
