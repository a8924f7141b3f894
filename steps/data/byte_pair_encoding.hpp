#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bench::steps {

/// Divides a text into the words that GPT-2's tokenizer encodes one by one. Together they are the
/// text.
///
/// Source: `encoder.py` of OpenAI's GPT-2, whose expression is
/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.
/// @param text UTF-8; bytes in a row that are not are a word
void for_each_word(std::string_view text, const std::function<void(std::string_view word)>& use);

/// The tokens of a vocabulary and their numbers, as in GPT-2's `vocab.json`: one JSON object, whose
/// names are the tokens, and whose values are numbers from 0 on.
/// @throws UsageError if the file cannot be opened
/// @throws DataError if it is anything else, or two tokens have the same number or name
std::unordered_map<std::string, std::int64_t> read_json_vocabulary(const std::string& path);

/// The byte-level byte-pair encoding of GPT-2: each word of a text begins as its bytes, and
/// neighbours are merged into longer tokens, the first possible merge of a list before all others.
///
/// Sources: Radford et al., Language Models are Unsupervised Multitask Learners (2019), section
/// 2.2; Sennrich et al. (arXiv:1508.07909); the files of OpenAI's GPT-2, in which bytes that cannot
/// be printed are written as the characters from U+0100 on (`bytes_to_unicode`).
class BytePairEncoding {
 public:
  /// @param vocabulary_file `vocab.json`: all tokens and their numbers
  /// @param merges_file `merges.txt`: two tokens in each line, in the order of merges
  /// @throws UsageError if a file cannot be opened
  /// @throws DataError if one is damaged, lacks a byte, or merges tokens that are not in the
  ///         vocabulary
  BytePairEncoding(const std::string& vocabulary_file, const std::string& merges_file);

  /// The largest number of a token, and one more.
  std::int64_t kinds() const { return kinds_; }
  /// `<|endoftext|>`, with which GPT-2 divides documents, if the vocabulary has it.
  std::optional<std::int64_t> end_of_text() const { return end_of_text_; }

  /// Appends the tokens of a text. Keeps those of frequent words, so one thread may call it.
  void encode(std::string_view text, std::vector<std::int64_t>& tokens);

  /// Of tokens of the vocabulary, the bytes that they stand for.
  std::string decode(const std::vector<std::int64_t>& tokens) const;

 private:
  struct Merge {
    std::int64_t rank;
    std::int64_t merged;
  };
  using Tokens = std::vector<std::int64_t>;

  void read_merges(const std::string& path,
                   const std::unordered_map<std::string, std::int64_t>& vocabulary);
  Tokens encode_word(std::string_view word) const;
  /// The merge of two neighbours, if there is one.
  const Merge* merge_of(std::int64_t left, std::int64_t right) const;

  std::int64_t kinds_ = 0;
  std::optional<std::int64_t> end_of_text_;
  std::array<std::int64_t, 256> byte_tokens_{};
  std::unordered_map<std::uint64_t, Merge> merges_;  ///< By both tokens, 32 bits each.
  std::unordered_map<std::int64_t, std::string> bytes_of_;
  std::unordered_map<std::string, Tokens> known_words_;
};

}  // namespace bench::steps
