#pragma once

#include "data/files.hpp"
#include "data/sample_loader.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
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

/// The order in which one epoch goes through some documents of a corpus.
///
/// The documents in random order are one long row of tokens. Sample k of that row is its tokens
/// k*s to k*s+s, s+1 of them: neighbours share one token, which the one predicts last and the other
/// sees first. The samples are then taken in a random order of their own. What is left at the end
/// of the row, at most s tokens, is not seen in this epoch.
///
/// This is the way of Megatron-LM (`gpt_dataset.py`: document, sample and shuffle index), but for
/// its rows that run on from one epoch to the next, and its random numbers.
class TokenEpoch {
 public:
  /// Linear in the sequences of the documents. Keeps 4 bytes per document and 16 per sample.
  /// @param sequence s
  /// @param samples how many of them the documents have tokens for
  /// @param stream of random numbers, which both orders follow from
  TokenEpoch(const TokenDataset& corpus, DocumentRange documents, std::uint64_t sequence,
             std::uint32_t samples, std::uint64_t stream);

  /// Copies a sample. @param out s + 1 tokens
  void read(std::uint64_t sample, std::span<std::int64_t> out) const;

  /// Where the token of a sample lies in the corpus' file of tokens, in bytes.
  std::uint64_t byte_offset(std::uint64_t sample, std::uint64_t token) const;

 private:
  /// Where a sample begins.
  struct Start {
    std::uint32_t document;  ///< Position in `documents_`.
    std::uint32_t sequence;  ///< Of that document, from 0.
    std::uint32_t token;     ///< Of that sequence.
  };

  void find_starts(std::uint64_t sequence, std::uint32_t samples);

  /// Calls `use(sequence, first, count)` for the pieces of sequences that a sample is made of.
  template <typename Use>
  void for_pieces(std::uint64_t sample, std::uint64_t count, Use&& use) const;

  const TokenDataset& corpus_;
  DocumentRange range_;
  std::vector<std::uint32_t> documents_;  ///< Relative to the first of the range.
  std::vector<Start> starts_;
  std::vector<std::uint32_t> order_;
};

/// Samples of one part of a corpus without end, epoch after epoch.
///
/// What sample i holds depends on the corpus, the options and i alone, not on who asks for it or
/// when. Memory is that of one TokenEpoch, and of two after the first epoch; going back to an
/// earlier one costs its construction.
class TokenSamples {
 public:
  struct Options {
    std::uint64_t sequence = 0;  ///< Tokens that the model sees; a sample has one more.
    std::uint64_t seed = 0;
    std::int64_t kinds = 0;  ///< Tokens must be 0 <= token < kinds.
    std::string part = {};   ///< Of the corpus, for messages; empty: all of it.
  };

  /// @param corpus must live longer
  /// @throws UsageError if the documents have no more than `sequence` tokens, or there are 2^32 or
  ///         more documents, samples, or sequences in a document
  TokenSamples(const TokenDataset& corpus, DocumentRange documents, const Options& options);

  std::uint64_t tokens() const { return tokens_; }  ///< Of the documents.
  std::uint64_t sequence() const { return options_.sequence; }
  std::uint64_t samples_per_epoch() const { return (tokens_ - 1) / options_.sequence; }

  /// Copies sample `index`, from 0 without end. May be called by several threads.
  /// @param out `sequence` + 1 tokens
  /// @throws DataError if a token is none of the kinds
  void read(std::uint64_t index, std::span<std::int64_t> out);

 private:
  struct Epoch {
    std::uint64_t number = 0;
    std::shared_ptr<const TokenEpoch> order;  ///< Empty before it is needed.
  };

  std::shared_ptr<const TokenEpoch> order_of(std::uint64_t epoch);

  const TokenDataset& corpus_;
  DocumentRange documents_;
  Options options_;
  std::uint64_t tokens_ = 0;
  std::mutex mutex_;
  std::array<Epoch, 2> epochs_;  ///< Where one ends, some threads are in it and some in the next.
};

/// Opens one part of the corpus PREFIX.
/// @param weights of training, validation and test documents (token_dataset.hpp)
/// @throws UsageError, DataError as TokenDataset, `parse_split` and TokenSamples
std::shared_ptr<TokenSamples> open_token_samples(const std::string& prefix,
                                                 const std::string& weights, Part part,
                                                 TokenSamples::Options options);

/// Samples of a corpus: one field `tokens`, int64 (S + 1), where S is the length of a sequence.
/// They throw DataError for a token outside the vocabulary.
SampleMakers token_makers(const std::shared_ptr<TokenSamples>& samples, int threads);

/// Samples of the same form whose tokens are uniform in 0 <= token < `vocabulary`, from the seed
/// and the number of the sample alone. So the loss begins and stays near ln(vocabulary).
/// @param sequence S, the tokens that the model sees
SampleMakers synthetic_token_makers(std::uint64_t seed, std::int64_t vocabulary,
                                    std::int64_t sequence, int threads);

}  // namespace bench::steps
