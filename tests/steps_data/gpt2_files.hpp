#pragma once

// A small tokenizer in the files of GPT-2.

#include <fstream>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {

/// Writes `vocab.json` with the 256 bytes in the order of their characters, then `merged` and
/// `<|endoftext|>`, and `merges.txt`.
/// @param merges lines of two tokens
/// @param merged tokens that they give
inline void write_gpt2_files(const std::string& vocabulary, const std::string& merges_file,
                             const std::vector<std::string>& merges,
                             const std::vector<std::string>& merged) {
  std::ofstream json(vocabulary);
  int number = 0;
  const auto is_itself = [](int byte) {
    return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 255 && byte != 173);
  };
  int hidden = 256;
  json << '{';
  for (int byte = 0; byte < 256; ++byte)
    json << fmt::format("\"\\u{:04x}\": {}, ", is_itself(byte) ? byte : hidden++, number++);
  for (const std::string& token : merged)
    json << fmt::format("\"{}\": {}, ", token, number++);
  json << fmt::format("\"<|endoftext|>\": {}}}", number);
  std::ofstream lines(merges_file);
  lines << "#version: 0.2\n";
  for (const std::string& merge : merges)
    lines << merge << '\n';
}

}  // namespace bench::steps
