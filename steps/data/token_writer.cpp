#include "data/token_writer.hpp"

#include "data/token_layout.hpp"
#include "data/token_type.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/core.h>

namespace bench::steps {

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

}  // namespace bench::steps
