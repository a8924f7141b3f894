#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/xml_encoding.hpp>

namespace bench::document {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view little_endian_mark = "\xFF\xFE"sv;
constexpr std::string_view big_endian_mark = "\xFE\xFF"sv;

/// The encoding that the first line declares, in lower case; empty for none.
std::string declared_encoding(std::string_view text) {
  if (!text.starts_with("<?xml"))
    return "";
  const std::string_view declaration = text.substr(0, text.find("?>"));
  const auto key = declaration.find("encoding");
  const auto begin = key == std::string_view::npos ? key : declaration.find_first_of("\"'", key);
  if (begin == std::string_view::npos)
    return "";
  const auto end = declaration.find(declaration[begin], begin + 1);
  return to_lower(declaration.substr(begin + 1, end - begin - 1));
}

/// Each byte of Latin-1 is the character of that number.
std::string latin1_to_utf8(std::string_view text) {
  std::string utf8;
  for (const char c : text)
    utf8 += utf8_of(static_cast<unsigned char>(c));
  return utf8;
}

std::string utf16_to_utf8(std::string_view bytes, const std::string& file) {
  const bool big_endian = bytes.starts_with(big_endian_mark) || bytes.starts_with("\0<"sv);
  if (bytes.starts_with(big_endian_mark) || bytes.starts_with(little_endian_mark))
    bytes.remove_prefix(2);
  const auto unit = [&](std::size_t at) {
    const auto first = static_cast<unsigned char>(bytes[at]);
    const auto second = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<char32_t>(big_endian ? first << 8 | second : second << 8 | first);
  };
  const auto is_high = [](char32_t one) { return one >= 0xD800 && one < 0xDC00; };
  const auto is_low = [](char32_t one) { return one >= 0xDC00 && one < 0xE000; };
  std::string utf8;
  int line = 1;
  for (std::size_t at = 0; at < bytes.size(); at += 2) {
    const bool whole = at + 1 < bytes.size();
    char32_t code = whole ? unit(at) : 0xDC00;
    if (is_high(code) && at + 3 < bytes.size() && is_low(unit(at + 2))) {
      code = 0x10000 + ((code - 0xD800) << 10) + (unit(at + 2) - 0xDC00);
      at += 2;
    }
    if (is_high(code) || is_low(code))
      throw Error("bytes that are not UTF-16", "save the file as UTF-8", Place{file, line, 0});
    line += code == '\n' ? 1 : 0;
    utf8 += utf8_of(code);
  }
  return utf8;
}

}  // namespace

bool is_utf16(std::string_view bytes) {
  return bytes.starts_with(big_endian_mark) || bytes.starts_with(little_endian_mark) ||
         bytes.starts_with("<\0"sv) || bytes.starts_with("\0<"sv);
}

std::string xml_to_utf8(const std::string& bytes, const std::string& file) {
  const bool utf16 = is_utf16(bytes);
  std::string text = utf16 ? utf16_to_utf8(bytes, file) : bytes;
  const std::string encoding = declared_encoding(text);
  constexpr std::array latin1{"iso-8859-1", "latin1", "latin-1"};
  constexpr std::array utf8{"", "utf-8", "utf8", "us-ascii", "ascii"};
  if (encoding.starts_with("utf-16")) {
    if (!utf16)
      throw Error(fmt::format("the file declares the encoding '{}' and has another", encoding),
                  "save the file as UTF-8", Place{file, 1, 1});
    return text;
  }
  if (utf16 || std::ranges::find(utf8, encoding) != utf8.end())
    return text;
  if (std::ranges::find(latin1, encoding) == latin1.end())
    throw Error(fmt::format("the encoding '{}' is not supported", encoding),
                "save the file as UTF-8", Place{file, 1, 1});
  return latin1_to_utf8(text);
}

}  // namespace bench::document
