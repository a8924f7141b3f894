#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bench::steps {

/// How one token is stored. The numbers are those of the file format; 6 and 7, which are missing
/// here, are its floating point types.
enum class TokenType : std::uint8_t { u8 = 1, i8 = 2, i16 = 3, i32 = 4, i64 = 5, u16 = 8 };

/// The type of this number in a file, or nothing where it is not one of integers.
std::optional<TokenType> token_type(std::uint8_t code);

std::size_t token_bytes(TokenType type);

/// The smallest and the largest token that it holds.
std::int64_t lowest_token(TokenType type);
std::int64_t highest_token(TokenType type);

}  // namespace bench::steps
