#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace bench::results {

/// Text to search: valid UTF-8 with `\n` as its only line end.
struct Subject {
  std::string text;
  bool ascii = true;
  bool repaired = false;  ///< Bytes that were not UTF-8 were replaced.
};

/// Unifies line ends; invalid UTF-8 becomes U+FFFD.
Subject to_subject(std::string text);

/// The whole file; nothing if it does not exist.
/// @throws Error if it is there and cannot be read
std::optional<Subject> read_subject(const std::filesystem::path& file);

}  // namespace bench::results
