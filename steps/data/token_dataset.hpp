#pragma once

#include "data/files.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {

/// How one token is stored. The numbers are those of the file format; 6 and 7, which are missing
/// here, are its floating point types.
enum class TokenType : std::uint8_t { u8 = 1, i8 = 2, i16 = 3, i32 = 4, i64 = 5, u16 = 8 };

std::size_t token_bytes(TokenType type);

/// Documents `first` <= document < `last` of a corpus.
struct DocumentRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// The parts of a split, in the order of its weights.
enum class Part : std::size_t { train, validation, test };

/// Weights as they are written, "7,3,1"; those that are missing are 0.
/// @throws UsageError unless one to three weights of at least 0 are given, and not all are 0
std::vector<double> parse_split(const std::string& text);

/// The share of `part` among `documents`, by weight: the ends of the parts are rounded to whole
/// documents, so that each document belongs to one part.
DocumentRange split(std::uint64_t documents, const std::vector<double>& weights, Part part);

/// A corpus of tokens in Megatron-LM's indexed format, `PREFIX.idx` and `PREFIX.bin`, mapped into
/// memory and never written.
///
/// A corpus is a row of documents, a document a row of sequences (mostly one), a sequence a row of
/// tokens that lie one after the other in `PREFIX.bin`. Layout of the index, little endian:
///
///     byte 0   "MMIDIDX", two zero bytes
///     byte 9   u64 version, 1
///     byte 17  u8 type of the tokens (`TokenType`)
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

/// Writes a corpus that `TokenDataset` reads. Keeps 20 bytes per sequence until the end.
class TokenWriter {
 public:
  /// @throws UsageError if a file cannot be opened
  TokenWriter(std::string prefix, TokenType type);

  /// Appends a sequence to the document that is under way.
  /// @throws std::invalid_argument if a token does not fit the type, or there are 2^31 or more
  void add_sequence(std::span<const std::int64_t> tokens);

  /// What follows belongs to the next document.
  void end_document();

  /// Writes the index; nothing may follow.
  /// @throws std::runtime_error if not everything could be written
  /// @throws std::logic_error if the last document was not ended
  void finish();

 private:
  std::string prefix_;
  TokenType type_;
  OutputFile tokens_file_;
  OutputFile index_file_;
  std::vector<std::int32_t> lengths_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::int64_t> first_sequences_{0};
};

}  // namespace bench::steps
