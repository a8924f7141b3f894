#include "data/json_vocabulary.hpp"

#include "data/data_error.hpp"
#include "data/mapped_file.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <unordered_set>

#include <fmt/core.h>

namespace bench::steps {
namespace {

void append_utf8(std::string& text, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto follow = [&](unsigned shift) { add(0x80U | (code >> shift & 0x3fU)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0U | code >> 6U);
    follow(0);
  } else if (code < 0x10000) {
    add(0xe0U | code >> 12U);
    follow(6);
    follow(0);
  } else {
    add(0xf0U | code >> 18U);
    follow(12);
    follow(6);
    follow(0);
  }
}

/// Reads an object of names and numbers.
class VocabularyParser {
 public:
  explicit VocabularyParser(const std::string& path)
      : file_(path, "give the file vocab.json of a GPT-2 tokenizer"), text_(file_.bytes()) {}

  std::unordered_map<std::string, std::int64_t> parse() {
    expect('{');
    if (!take('}')) {
      do
        read_entry();
      while (take(','));
      expect('}');
    }
    skip_spaces();
    if (at_ < text_.size())
      fail("expected the end of the file");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw DataError(file_.path(), at_, message,
                    "a vocabulary is one JSON object of tokens and their numbers, such as "
                    "{\"!\": 0, \"\\\"\": 1}");
  }

  void skip_spaces() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos)
      ++at_;
  }

  bool take(char wanted) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != wanted)
      return false;
    ++at_;
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted))
      fail(fmt::format("expected '{}'", wanted));
  }

  void read_entry() {
    std::string name = read_string();
    expect(':');
    const std::int64_t number = read_number();
    if (!numbers_.insert(number).second)
      fail(fmt::format("two tokens have the number {}", number));
    if (!tokens_.emplace(name, number).second)
      fail(fmt::format("the token '{}' has two numbers", name));
  }

  std::int64_t read_number() {
    skip_spaces();
    std::int32_t number = -1;
    const char* const begin = text_.data() + at_;
    const auto result = std::from_chars(begin, text_.data() + text_.size(), number);
    if (result.ec != std::errc() || number < 0)
      fail("expected the number of a token");
    at_ += static_cast<std::size_t>(result.ptr - begin);
    return number;
  }

  std::string read_string() {
    expect('"');
    std::string result;
    while (true) {
      if (at_ == text_.size())
        fail("expected '\"'");
      const char letter = text_[at_++];
      if (letter == '"')
        return result;
      if (letter == '\\')
        read_escape(result);
      else
        result += letter;
    }
  }

  void read_escape(std::string& result) {
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    const char letter = at_ < text_.size() ? text_[at_++] : '\0';
    if (const std::size_t known = letters.find(letter); known != letters.npos)
      result += meanings[known];
    else if (letter == 'u')
      append_utf8(result, read_code());
    else
      fail("unknown escape in a token");
  }

  /// The character of `\uXXXX`, or of two of them if it is beyond 16 bits.
  std::uint32_t read_code() {
    const std::uint32_t high = read_hex();
    if (high < 0xd800 || high > 0xdfff)
      return high;
    if (high > 0xdbff || !text_.substr(at_).starts_with("\\u"))
      fail("half of a character in a token");
    at_ += 2;
    const std::uint32_t low = read_hex();
    if (low < 0xdc00 || low > 0xdfff)
      fail("half of a character in a token");
    return 0x10000 + ((high - 0xd800) << 10U) + (low - 0xdc00);
  }

  std::uint32_t read_hex() {
    constexpr std::size_t digits = 4;
    std::uint32_t code = 0;
    const std::string_view text = text_.substr(at_, digits);
    const auto result = std::from_chars(text.data(), text.data() + text.size(), code, 16);
    if (text.size() < digits || result.ec != std::errc() || result.ptr != text.data() + digits)
      fail("expected four hexadecimal digits");
    at_ += digits;
    return code;
  }

  MappedFile file_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::unordered_map<std::string, std::int64_t> tokens_;
  std::unordered_set<std::int64_t> numbers_;
};

}  // namespace

std::unordered_map<std::string, std::int64_t> read_json_vocabulary(const std::string& path) {
  return VocabularyParser(path).parse();
}

}  // namespace bench::steps
