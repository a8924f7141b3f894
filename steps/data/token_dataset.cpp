#include "data/token_dataset.hpp"

#include "data/fields.hpp"
#include "data/files.hpp"
#include "data/random.hpp"
#include "data/sample_loader.hpp"
#include "harness/errors.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {
namespace {

// Where things stand in the index of a corpus, in bytes; the picture is in the header.

constexpr std::string_view token_index_magic{"MMIDIDX\0\0", 9};
constexpr std::uint64_t token_index_version_at = 9;
constexpr std::uint64_t token_index_type_at = 17;
constexpr std::uint64_t token_index_sequences_at = 18;
constexpr std::uint64_t token_index_documents_at = 26;
constexpr std::uint64_t token_index_header_bytes = 34;

constexpr std::uint64_t token_index_lengths_at(std::uint64_t sequence) {
  return token_index_header_bytes + 4 * sequence;
}

constexpr std::uint64_t token_index_offsets_at(std::uint64_t sequences, std::uint64_t sequence) {
  return token_index_header_bytes + 4 * sequences + 8 * sequence;
}

constexpr std::uint64_t token_index_documents_begin(std::uint64_t sequences) {
  return token_index_header_bytes + 12 * sequences;
}

struct TypeFacts {
  std::size_t bytes;
  std::int64_t lowest;
  std::int64_t highest;
};

template <typename Integer>
constexpr TypeFacts facts_of() {
  return {sizeof(Integer), std::numeric_limits<Integer>::min(),
          std::numeric_limits<Integer>::max()};
}

TypeFacts facts(TokenType type) {
  switch (type) {
    case TokenType::u8:
      return facts_of<std::uint8_t>();
    case TokenType::i8:
      return facts_of<std::int8_t>();
    case TokenType::i16:
      return facts_of<std::int16_t>();
    case TokenType::i32:
      return facts_of<std::int32_t>();
    case TokenType::i64:
      return facts_of<std::int64_t>();
    case TokenType::u16:
      return facts_of<std::uint16_t>();
  }
  throw std::logic_error("unknown type of tokens");
}

/// The type of this number in a file, or nothing where it is not one of integers.
std::optional<TokenType> token_type(std::uint8_t code) {
  if ((code >= 1 && code <= 5) || code == 8)
    return static_cast<TokenType>(code);
  return std::nullopt;
}

/// The smallest and the largest token that it holds.
std::int64_t lowest_token(TokenType type) {
  return facts(type).lowest;
}

std::int64_t highest_token(TokenType type) {
  return facts(type).highest;
}

}  // namespace

std::size_t token_bytes(TokenType type) {
  return facts(type).bytes;
}

namespace {

constexpr std::size_t parts = 3;

}  // namespace

std::vector<double> parse_split(const std::string& text) {
  const auto fail = [&] {
    throw UsageError(fmt::format("'{}' is not a split", text),
                     "give the weights of training, validation and test, for example 7,3,1");
  };
  std::vector<double> weights;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    double weight = 0;
    const auto [behind, error] = std::from_chars(at, end, weight);
    if (error != std::errc() || !std::isfinite(weight) || weight < 0)
      fail();
    weights.push_back(weight);
    if (behind == end)
      break;
    if (*behind != ',')
      fail();
    at = behind + 1;
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (weights.size() > parts || !(sum > 0) || !std::isfinite(sum))
    fail();
  weights.resize(parts);
  return weights;
}

DocumentRange split(std::uint64_t documents, const std::vector<double>& weights, Part part) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto end_of = [&](std::size_t count) {
    if (count == weights.size())
      return documents;  // whatever rounding says
    const double before =
        std::accumulate(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(count), 0.0);
    return static_cast<std::uint64_t>(std::llround(before / sum * static_cast<double>(documents)));
  };
  const auto index = static_cast<std::size_t>(part);
  return {end_of(index), end_of(index + 1)};
}

namespace {

const char* const corpus_hint =
    "a corpus is named by what its two files have in common: PREFIX.idx and PREFIX.bin";

template <typename Stored>
void copy_tokens(std::string_view bytes, std::uint64_t offset, std::span<std::int64_t> out) {
  for (std::int64_t& token : out) {
    token = number_at<Stored>(bytes, offset);
    offset += sizeof(Stored);
  }
}

std::string plural(std::uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

TokenDataset::TokenDataset(const std::string& prefix)
    : index_file_(prefix + ".idx", corpus_hint), tokens_file_(prefix + ".bin", corpus_hint) {
  read_header();
  check_sequences();
  check_documents();
}

void TokenDataset::read_header() {
  const std::string_view bytes = index_file_.bytes();
  const auto fail = [&](std::uint64_t offset, const std::string& message) {
    throw DataError(index_file_.path(), offset, message);
  };
  if (!bytes.starts_with(token_index_magic.substr(0, bytes.size())) || bytes.empty())
    fail(0, "not the index of a corpus: it does not begin with MMIDIDX");
  if (bytes.size() < token_index_header_bytes)
    fail(bytes.size(),
         fmt::format("the file ends inside its header of {} bytes", token_index_header_bytes));
  if (const auto version = number_at<std::uint64_t>(bytes, token_index_version_at); version != 1)
    fail(token_index_version_at, fmt::format("version {}, but only 1 is known", version));
  const auto code = number_at<std::uint8_t>(bytes, token_index_type_at);
  const auto type = token_type(code);
  if (!type)
    fail(token_index_type_at, fmt::format("tokens of type {}, which is none of integers", code));
  type_ = *type;
  sequences_ = number_at<std::uint64_t>(bytes, token_index_sequences_at);
  const auto marks = number_at<std::uint64_t>(bytes, token_index_documents_at);
  if (marks == 0)
    fail(token_index_documents_at, "there is no end of the last document");
  documents_ = marks - 1;

  // Compared by division, since a product of what the file says may overflow.
  const std::uint64_t rest = bytes.size() - token_index_header_bytes;
  if (sequences_ > rest / 12 || marks > (rest - 12 * sequences_) / 8)
    fail(token_index_sequences_at,
         fmt::format("{} and {} need more than the {} of this file", plural(sequences_, "sequence"),
                     plural(documents_, "document"), plural(bytes.size(), "byte")));
  const std::uint64_t behind = rest - 12 * sequences_ - 8 * marks;
  if (behind != 0 && behind != sequences_)
    fail(bytes.size() - behind, fmt::format("{} too many", plural(behind, "byte")));
}

void TokenDataset::check_sequences() {
  const std::string_view index = index_file_.bytes();
  const std::uint64_t width = token_bytes(type_);
  const std::uint64_t size = tokens_file_.size();
  for (std::uint64_t i = 0; i < sequences_; ++i) {
    const std::uint64_t length_at = token_index_lengths_at(i);
    const std::uint64_t offset_at = token_index_offsets_at(sequences_, i);
    const auto tokens = number_at<std::int32_t>(index, length_at);
    const auto offset = number_at<std::int64_t>(index, offset_at);
    if (tokens < 0)
      throw DataError(index_file_.path(), length_at,
                      fmt::format("sequence {} has {} tokens", i, tokens));
    const auto count = static_cast<std::uint64_t>(tokens);
    if (offset < 0 || static_cast<std::uint64_t>(offset) > size ||
        count > (size - static_cast<std::uint64_t>(offset)) / width)
      throw DataError(index_file_.path(), offset_at,
                      fmt::format("sequence {} with {} at byte {} reaches behind the end of {}, "
                                  "which has {}",
                                  i, plural(count, "token"), offset, tokens_file_.path(),
                                  plural(size, "byte")));
    if (static_cast<std::uint64_t>(offset) % width != 0)
      throw DataError(index_file_.path(), offset_at,
                      fmt::format("sequence {} at byte {} begins inside a token of {}", i, offset,
                                  plural(width, "byte")));
    tokens_ += count;
  }
}

void TokenDataset::check_documents() const {
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i <= documents_; ++i) {
    const std::uint64_t at = token_index_documents_begin(sequences_) + 8 * i;
    const auto first = number_at<std::uint64_t>(index_file_.bytes(), at);
    const bool right = i == 0 ? first == 0 : first >= before && first <= sequences_;
    if (!right || (i == documents_ && first != sequences_))
      throw DataError(index_file_.path(), at,
                      fmt::format("document {} cannot begin with sequence {} of {}", i,
                                  static_cast<std::int64_t>(first), sequences_));
    before = first;
  }
}

std::uint32_t TokenDataset::length(std::uint64_t sequence) const {
  return number_at<std::uint32_t>(index_file_.bytes(), token_index_lengths_at(sequence));
}

std::uint64_t TokenDataset::first_sequence(std::uint64_t document) const {
  return number_at<std::uint64_t>(index_file_.bytes(),
                                  token_index_documents_begin(sequences_) + 8 * document);
}

std::uint64_t TokenDataset::byte_offset(std::uint64_t sequence, std::uint64_t token) const {
  return number_at<std::uint64_t>(index_file_.bytes(),
                                  token_index_offsets_at(sequences_, sequence)) +
         token * token_bytes(type_);
}

void TokenDataset::read(std::uint64_t sequence, std::uint64_t first,
                        std::span<std::int64_t> out) const {
  if (sequence >= sequences_ || first > length(sequence) || out.size() > length(sequence) - first)
    throw std::out_of_range(fmt::format("{} tokens from {} on of sequence {} in {}", out.size(),
                                        first, sequence, tokens_file_.path()));
  const std::string_view bytes = tokens_file_.bytes();
  const std::uint64_t offset = byte_offset(sequence, first);
  switch (type_) {
    case TokenType::u8:
      return copy_tokens<std::uint8_t>(bytes, offset, out);
    case TokenType::i8:
      return copy_tokens<std::int8_t>(bytes, offset, out);
    case TokenType::i16:
      return copy_tokens<std::int16_t>(bytes, offset, out);
    case TokenType::i32:
      return copy_tokens<std::int32_t>(bytes, offset, out);
    case TokenType::i64:
      return copy_tokens<std::int64_t>(bytes, offset, out);
    case TokenType::u16:
      return copy_tokens<std::uint16_t>(bytes, offset, out);
  }
}

TokenWriter::TokenWriter(std::string prefix, TokenType type)
    : prefix_(std::move(prefix)),
      type_(type),
      tokens_file_(prefix_ + ".bin"),
      index_file_(prefix_ + ".idx") {}

void TokenWriter::add_sequence(std::span<const std::int64_t> tokens) {
  if (tokens.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw std::invalid_argument(fmt::format("a sequence of {} tokens", tokens.size()));
  for (const std::int64_t token : tokens)
    if (token < lowest_token(type_) || token > highest_token(type_))
      throw std::invalid_argument(fmt::format("token {} does not fit the {} byte(s) of its type",
                                              token, token_bytes(type_)));
  lengths_.push_back(static_cast<std::int32_t>(tokens.size()));
  offsets_.push_back(static_cast<std::int64_t>(tokens_file_.size()));
  // Little endian: the first bytes of the wide integer are the narrow one.
  for (const std::int64_t& token : tokens)
    tokens_file_.write({reinterpret_cast<const char*>(&token), token_bytes(type_)});
}

void TokenWriter::end_document() {
  first_sequences_.push_back(static_cast<std::int64_t>(lengths_.size()));
}

void TokenWriter::finish() {
  if (first_sequences_.back() != static_cast<std::int64_t>(lengths_.size()))
    throw std::logic_error("the last document of " + prefix_ + " was not ended");
  tokens_file_.close();
  index_file_.write(token_index_magic);
  index_file_.write_number(std::uint64_t{1});
  index_file_.write_number(static_cast<std::uint8_t>(type_));
  index_file_.write_number(std::uint64_t{lengths_.size()});
  index_file_.write_number(std::uint64_t{first_sequences_.size()});
  for (const std::int32_t length : lengths_)
    index_file_.write_number(length);
  for (const std::int64_t offset : offsets_)
    index_file_.write_number(offset);
  for (const std::int64_t first : first_sequences_)
    index_file_.write_number(first);
  index_file_.close();
}

namespace {

/// The indices of an epoch keep numbers in 32 bits: half the memory, enough for every known corpus.
void check_count(const TokenDataset& corpus, std::uint64_t count, const char* what) {
  if (count > std::numeric_limits<std::uint32_t>::max())
    throw UsageError(
        fmt::format("{} has {} {}, more than an index keeps", corpus.token_file(), count, what),
        "split the corpus into several");
}

}  // namespace

TokenSamples::TokenSamples(const TokenDataset& corpus, DocumentRange documents,
                           const Options& options)
    : corpus_(corpus), documents_(documents), options_(options) {
  check_count(corpus, documents.last - documents.first, "documents");
  std::uint64_t sequence = corpus.first_sequence(documents.first);
  for (std::uint64_t document = documents.first; document < documents.last; ++document) {
    const std::uint64_t last = corpus.first_sequence(document + 1);
    check_count(corpus, last - sequence, "sequences in a document");
    for (; sequence < last; ++sequence)
      tokens_ += corpus.length(sequence);
  }
  if (tokens_ <= options.sequence)
    throw UsageError(
        fmt::format("{}{} has {} documents with {} tokens, and one sample needs {}",
                    options.part.empty() ? "" : options.part + " of ", corpus.token_file(),
                    documents.last - documents.first, tokens_, options.sequence + 1),
        "give a larger corpus, a larger share of it, or shorter sequences");
  check_count(corpus, samples_per_epoch(), "samples");
}

std::shared_ptr<const TokenEpoch> TokenSamples::order_of(std::uint64_t epoch) {
  const std::lock_guard lock(mutex_);
  Epoch& kept = epochs_[epoch % epochs_.size()];
  if (!kept.order || kept.number != epoch) {
    kept.order.reset();  // before the next one is built: never the memory of three
    kept.order = std::make_shared<const TokenEpoch>(corpus_, documents_, options_.sequence,
                                                    static_cast<std::uint32_t>(samples_per_epoch()),
                                                    mixed(options_.seed ^ mixed(epoch)));
    kept.number = epoch;
  }
  return kept.order;
}

void TokenSamples::read(std::uint64_t index, std::span<std::int64_t> out) {
  const std::shared_ptr<const TokenEpoch> order = order_of(index / samples_per_epoch());
  const std::uint64_t sample = index % samples_per_epoch();
  order->read(sample, out);
  const auto unknown = std::ranges::find_if(
      out, [&](std::int64_t token) { return token < 0 || token >= options_.kinds; });
  if (unknown != out.end())
    throw DataError(corpus_.token_file(),
                    order->byte_offset(sample, static_cast<std::uint64_t>(unknown - out.begin())),
                    fmt::format("token {} is not in a vocabulary of {}", *unknown, options_.kinds),
                    "give a --vocab-size above every token of the corpus");
}

TokenEpoch::TokenEpoch(const TokenDataset& corpus, DocumentRange documents, std::uint64_t sequence,
                       std::uint32_t samples, std::uint64_t stream)
    : corpus_(corpus), range_(documents) {
  documents_ =
      permutation(static_cast<std::uint32_t>(documents.last - documents.first), Random(stream));
  find_starts(sequence, samples);
  order_ = permutation(samples, Random(stream + 1));
}

void TokenEpoch::find_starts(std::uint64_t sequence, std::uint32_t samples) {
  starts_.reserve(samples);
  std::uint64_t begin = 0;       // of the current sequence in the row of all tokens
  std::uint64_t next_start = 0;  // of a sample in that row
  for (std::uint32_t position = 0; starts_.size() < samples; ++position) {
    const std::uint64_t document = range_.first + documents_[position];
    const std::uint64_t first = corpus_.first_sequence(document);
    const std::uint64_t last = corpus_.first_sequence(document + 1);
    for (std::uint64_t i = first; i < last; ++i) {
      const std::uint64_t end = begin + corpus_.length(i);
      for (; next_start < end && starts_.size() < samples; next_start += sequence)
        starts_.push_back({position, static_cast<std::uint32_t>(i - first),
                           static_cast<std::uint32_t>(next_start - begin)});
      begin = end;
    }
  }
}

template <typename Use>
void TokenEpoch::for_pieces(std::uint64_t sample, std::uint64_t count, Use&& use) const {
  const Start& start = starts_[order_[sample]];
  std::uint64_t token = start.token;
  std::uint64_t skipped = start.sequence;
  for (std::size_t position = start.document; count > 0; ++position) {
    const std::uint64_t document = range_.first + documents_[position];
    const std::uint64_t last = corpus_.first_sequence(document + 1);
    for (std::uint64_t i = corpus_.first_sequence(document) + skipped; i < last && count > 0; ++i) {
      const std::uint64_t here = std::min<std::uint64_t>(count, corpus_.length(i) - token);
      use(i, token, here);
      count -= here;
      token = 0;
    }
    skipped = 0;
  }
}

void TokenEpoch::read(std::uint64_t sample, std::span<std::int64_t> out) const {
  for_pieces(sample, out.size(), [&](std::uint64_t i, std::uint64_t first, std::uint64_t count) {
    corpus_.read(i, first, out.first(count));
    out = out.subspan(count);
  });
}

std::uint64_t TokenEpoch::byte_offset(std::uint64_t sample, std::uint64_t token) const {
  std::uint64_t offset = 0;
  for_pieces(sample, token + 1, [&](std::uint64_t i, std::uint64_t first, std::uint64_t count) {
    if (count > 0)
      offset = corpus_.byte_offset(i, first + count - 1);
  });
  return offset;
}

namespace {

std::vector<Field> token_fields(std::int64_t sequence) {
  return {{.name = "tokens", .type = FieldType::int64, .shape = {sequence + 1}}};
}

/// A corpus, and samples that refer to it.
struct Corpus {
  TokenDataset dataset;
  TokenSamples samples;

  Corpus(const std::string& prefix, const std::vector<double>& weights, Part part,
         const TokenSamples::Options& options)
      : dataset(prefix), samples(dataset, split(dataset.documents(), weights, part), options) {}
};

}  // namespace

std::shared_ptr<TokenSamples> open_token_samples(const std::string& prefix,
                                                 const std::string& weights, Part part,
                                                 TokenSamples::Options options) {
  constexpr const char* names[] = {"training", "validation", "test"};
  options.part =
      fmt::format("the {} part (--split {})", names[static_cast<std::size_t>(part)], weights);
  const auto corpus = std::make_shared<Corpus>(prefix, parse_split(weights), part, options);
  return {corpus, &corpus->samples};
}

SampleMakers token_makers(const std::shared_ptr<TokenSamples>& samples, int threads) {
  const FillSample make = [samples](std::uint64_t sample, const FieldMemory& memory) {
    samples->read(sample, integers(memory[0]));
  };
  return sample_makers(
      token_fields(static_cast<std::int64_t>(samples->sequence())), threads, [&] { return make; },
      samples->samples_per_epoch());
}

SampleMakers synthetic_token_makers(std::uint64_t seed, std::int64_t vocabulary,
                                    std::int64_t sequence, int threads) {
  const FillSample make = [seed, kinds = static_cast<std::uint64_t>(vocabulary)](
                              std::uint64_t sample, const FieldMemory& memory) {
    std::uint64_t place = mixed(seed ^ mixed(sample));
    for (std::int64_t& token : integers(memory[0]))
      token = static_cast<std::int64_t>(mixed(place++) % kinds);
  };
  return sample_makers(token_fields(sequence), threads, [&] { return make; });
}

}  // namespace bench::steps
