#pragma once

#include <string>
#include <string_view>

#include <fmt/core.h>

namespace bench::steps {

/// Two digits per byte.
inline std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes)
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

/// The bytes of such a text, which may have blanks between them.
inline std::string unhex(std::string_view text) {
  std::string bytes;
  std::string digits;
  for (const char digit : text) {
    if (digit != ' ')
      digits += digit;
    if (digits.size() == 2) {
      bytes += static_cast<char>(std::stoi(digits, nullptr, 16));
      digits.clear();
    }
  }
  return bytes;
}

}  // namespace bench::steps
