#pragma once

// Corpora for tests, and a small tokenizer in the files of GPT-2.

#include "data/token_dataset.hpp"

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {

using Tokens = std::vector<std::int64_t>;
using Documents = std::vector<std::vector<Tokens>>;  ///< Documents of sequences of tokens.

inline void write_corpus(const std::string& prefix, TokenType type, const Documents& documents) {
  TokenWriter writer(prefix, type);
  for (const auto& document : documents) {
    for (const Tokens& sequence : document)
      writer.add_sequence(sequence);
    writer.end_document();
  }
  writer.finish();
}

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
