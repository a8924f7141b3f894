#include "data/token_dataset.hpp"

#include "data/data_error.hpp"
#include "data/mapped_file.hpp"
#include "data/token_layout.hpp"
#include "data/token_type.hpp"

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace bench::steps {
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

}  // namespace bench::steps
