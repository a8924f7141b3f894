#include "data/token_type.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>

namespace bench::steps {
namespace {

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

}  // namespace

std::optional<TokenType> token_type(std::uint8_t code) {
  if ((code >= 1 && code <= 5) || code == 8)
    return static_cast<TokenType>(code);
  return std::nullopt;
}

std::size_t token_bytes(TokenType type) {
  return facts(type).bytes;
}

std::int64_t lowest_token(TokenType type) {
  return facts(type).lowest;
}

std::int64_t highest_token(TokenType type) {
  return facts(type).highest;
}

}  // namespace bench::steps
