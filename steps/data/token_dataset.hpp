#pragma once

#include "data/mapped_file.hpp"
#include "data/token_type.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace bench::steps {

/// A corpus of tokens in Megatron-LM's indexed format, `PREFIX.idx` and `PREFIX.bin`, mapped into
/// memory and never written.
///
/// A corpus is a row of documents, a document a row of sequences (mostly one), a sequence a row of
/// tokens that lie one after the other in `PREFIX.bin`. Layout of the index, little endian:
///
///     byte 0   "MMIDIDX", two zero bytes
///     byte 9   u64 version, 1
///     byte 17  u8 type of the tokens (token_type.hpp)
///     byte 18  u64 S, number of sequences
///     byte 26  u64 D, number of documents + 1
///     byte 34  i32 tokens[S], i64 byte offset[S] into PREFIX.bin, i64 first sequence[D]
///              and, for multimodal data, i8 mode[S], which is not looked at
///
/// Source: `indexed_dataset.py` of Megatron-LM, as its files show it.
class TokenDataset {
 public:
  /// Reads the whole index once (20 bytes per sequence), so that nothing that follows from it can
  /// lead outside the files.
  /// @throws UsageError if a file cannot be opened
  /// @throws DataError if the index is wrong, or points behind the end of `PREFIX.bin`
  explicit TokenDataset(const std::string& prefix);

  TokenType type() const { return type_; }
  std::uint64_t sequences() const { return sequences_; }
  std::uint64_t documents() const { return documents_; }
  std::uint64_t tokens() const { return tokens_; }  ///< Of all sequences.
  const std::string& token_file() const { return tokens_file_.path(); }

  /// Tokens of a sequence. @param sequence below `sequences()`
  std::uint32_t length(std::uint64_t sequence) const;
  /// Where a document begins. @param document up to `documents()`, whose first is `sequences()`
  std::uint64_t first_sequence(std::uint64_t document) const;
  /// Where a token lies in `token_file()`.
  std::uint64_t byte_offset(std::uint64_t sequence, std::uint64_t token) const;

  /// Copies tokens of one sequence, from its token `first` on.
  /// @throws std::out_of_range if it does not have that many
  void read(std::uint64_t sequence, std::uint64_t first, std::span<std::int64_t> out) const;

 private:
  void read_header();
  void check_sequences();
  void check_documents() const;

  MappedFile index_file_;
  MappedFile tokens_file_;
  TokenType type_ = TokenType::u8;
  std::uint64_t sequences_ = 0;
  std::uint64_t documents_ = 0;
  std::uint64_t tokens_ = 0;
};

}  // namespace bench::steps
