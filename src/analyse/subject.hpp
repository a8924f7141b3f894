#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace bench::analyse {

/// Text to search: valid UTF-8 with `\n` as its only line end.
struct Subject {
  std::string text;
  bool ascii = true;
  bool repaired = false;  ///< Bytes that were no UTF-8 were replaced.
};

/// Unifies line ends; bytes that are no UTF-8 become U+FFFD.
Subject to_subject(std::string text);

/// The whole file, or nothing where there is no such file.
/// @throws Error if it is there and cannot be read
std::optional<Subject> read_subject(const std::filesystem::path& file);

}  // namespace bench::analyse
