#include "data/byte_pair_encoding.hpp"

#include "data/files.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <utf8.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace bench::steps {
namespace {

constexpr std::string_view word_expression =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

struct Freed {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

using Code = std::unique_ptr<pcre2_code, Freed>;
using MatchData = std::unique_ptr<pcre2_match_data, Freed>;

Code compile_word_expression() {
  int error = 0;
  std::size_t place = 0;
  Code code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(word_expression.data()),
                          word_expression.size(), PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF,
                          &error, &place, nullptr));
  if (!code)
    throw std::logic_error("the expression for words is wrong");
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // slower where it cannot be
  return code;
}

}  // namespace

void for_each_word(std::string_view text, const std::function<void(std::string_view word)>& use) {
  static const Code code = compile_word_expression();
  const MatchData data(pcre2_match_data_create_from_pattern(code.get(), nullptr));
  if (!data)
    throw std::bad_alloc();
  for (std::size_t at = 0; at < text.size();) {
    const int found = pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                                  text.size(), at, 0, data.get(), nullptr);
    if (found < 0 && found != PCRE2_ERROR_NOMATCH)
      throw std::runtime_error("text cannot be divided into words: one of them is too long");
    const std::size_t* const match = pcre2_get_ovector_pointer(data.get());
    const std::size_t begin = found < 0 ? text.size() : match[0];
    if (begin > at)  // bytes that are not UTF-8 match nothing
      use(text.substr(at, begin - at));
    at = begin;
    if (found > 0) {
      use(text.substr(begin, match[1] - begin));
      at = match[1];
    }
  }
}

namespace {

using nlohmann::json;

constexpr const char* hint =
    R"(a vocabulary is one JSON object of tokens and their numbers, such as {"!": 0, "#": 1})";

/// @throws DataError if it is no JSON, or a name stands in it twice
json parse_once_each(const MappedFile& file) {
  std::unordered_set<std::string> names;
  std::string twice;
  const auto note_names = [&](int, json::parse_event_t event, const json& parsed) {
    if (event == json::parse_event_t::key && !names.insert(parsed.get<std::string>()).second)
      twice = parsed.get<std::string>();
    return true;
  };
  try {
    json vocabulary = json::parse(file.bytes(), note_names);
    if (!twice.empty())
      throw DataError(file.path(), fmt::format("the token '{}' has two numbers", twice), hint);
    return vocabulary;
  } catch (const json::parse_error& error) {
    throw DataError(file.path(), error.byte, "no JSON", hint);
  }
}

bool is_token_number(const json& value) {
  return value.is_number_unsigned() &&
         value.get<std::uint64_t>() <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

std::unordered_map<std::string, std::int64_t> read_json_vocabulary(const std::string& path) {
  const MappedFile file(path, "give the file vocab.json of a GPT-2 tokenizer");
  const json vocabulary = parse_once_each(file);
  if (!vocabulary.is_object())
    throw DataError(path, "not a JSON object", hint);
  std::unordered_map<std::string, std::int64_t> tokens;
  std::unordered_set<std::int64_t> numbers;
  for (const auto& [token, value] : vocabulary.items()) {
    if (!is_token_number(value))
      throw DataError(path, fmt::format("the token '{}' has the number {}", token, value.dump()),
                      hint);
    const auto number = value.get<std::int64_t>();
    if (!numbers.insert(number).second)
      throw DataError(path, fmt::format("two tokens have the number {}", number), hint);
    tokens.emplace(token, number);
  }
  return tokens;
}

namespace {

constexpr std::string_view end_of_text_name = "<|endoftext|>";
constexpr std::size_t most_known_words = std::size_t{1} << 20;
constexpr std::size_t most_known_bytes = 64;  // of a word

bool is_written_as_itself(char32_t byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xff && byte != 0xad);
}

/// The characters that the files write for the 256 bytes.
std::array<char32_t, 256> written_bytes() {
  std::array<char32_t, 256> written{};
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < written.size(); ++byte)
    written[byte] = is_written_as_itself(byte) ? byte : next++;
  return written;
}

std::unordered_map<char32_t, char> bytes_by_character() {
  std::unordered_map<char32_t, char> bytes;
  const std::array<char32_t, 256> written = written_bytes();
  for (std::size_t byte = 0; byte < written.size(); ++byte)
    bytes[written[byte]] = static_cast<char>(byte);
  return bytes;
}

/// The bytes of a token as the files write it; characters that stand for no byte are left out.
/// @param token UTF-8
std::string bytes_of_token(std::string_view token) {
  static const std::unordered_map<char32_t, char> bytes = bytes_by_character();
  std::string result;
  for (auto at = token.begin(); at != token.end();)
    if (const auto byte = bytes.find(utf8::next(at, token.end())); byte != bytes.end())
      result += byte->second;
  return result;
}

std::uint64_t key_of(std::int64_t left, std::int64_t right) {
  return static_cast<std::uint64_t>(left) << 32U | static_cast<std::uint64_t>(right);
}

}  // namespace

BytePairEncoding::BytePairEncoding(const std::string& vocabulary_file,
                                   const std::string& merges_file) {
  const auto vocabulary = read_json_vocabulary(vocabulary_file);
  byte_tokens_.fill(-1);
  for (const auto& [token, number] : vocabulary) {
    kinds_ = std::max(kinds_, number + 1);
    if (token == end_of_text_name)
      end_of_text_ = number;
    const std::string bytes = bytes_of_token(token);
    if (bytes.size() == 1)
      byte_tokens_[static_cast<unsigned char>(bytes.front())] = number;
    bytes_of_[number] = bytes;
  }
  const auto missing = std::ranges::find(byte_tokens_, -1);
  if (missing != byte_tokens_.end())
    throw DataError(vocabulary_file,
                    fmt::format("no token for the byte {}", missing - byte_tokens_.begin()),
                    "use the vocab.json of a byte-level tokenizer, such as GPT-2's");
  read_merges(merges_file, vocabulary);
}

void BytePairEncoding::read_merges(
    const std::string& path, const std::unordered_map<std::string, std::int64_t>& vocabulary) {
  const MappedFile file(path, "give the file merges.txt of a GPT-2 tokenizer");
  std::string_view rest = file.bytes();
  for (std::int64_t line = 1; !rest.empty(); ++line) {
    std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    if (text.ends_with('\r'))
      text.remove_suffix(1);
    if (text.empty() || (line == 1 && text.starts_with("#version")))
      continue;
    const auto fail = [&](const std::string& message) {
      throw DataError(path, fmt::format("line {}: {}", line, message),
                      "use the merges.txt that belongs to the vocabulary");
    };
    const std::size_t space = text.find(' ');
    if (space == 0 || space == text.npos || text.find(' ', space + 1) != text.npos)
      fail("expected two tokens with a space between them");
    const std::string left(text.substr(0, space));
    const std::string right(text.substr(space + 1));
    const auto number_of = [&](const std::string& token) {
      const auto found = vocabulary.find(token);
      if (found == vocabulary.end())
        fail(fmt::format("the token '{}' is not in the vocabulary", token));
      return found->second;
    };
    const Merge merge{.rank = line, .merged = number_of(left + right)};
    merges_.emplace(key_of(number_of(left), number_of(right)), merge);
  }
}

const BytePairEncoding::Merge* BytePairEncoding::merge_of(std::int64_t left,
                                                          std::int64_t right) const {
  const auto found = merges_.find(key_of(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

BytePairEncoding::Tokens BytePairEncoding::encode_word(std::string_view word) const {
  Tokens tokens;
  for (const char byte : word)
    tokens.push_back(byte_tokens_[static_cast<unsigned char>(byte)]);
  while (true) {
    Merge best{.rank = std::numeric_limits<std::int64_t>::max(), .merged = 0};
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
      if (const Merge* const merge = merge_of(tokens[i], tokens[i + 1]);
          merge && merge->rank < best.rank)
        best = *merge;
    if (best.rank == std::numeric_limits<std::int64_t>::max())
      return tokens;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i, ++kept) {
      const Merge* const merge =
          i + 1 < tokens.size() ? merge_of(tokens[i], tokens[i + 1]) : nullptr;
      const bool merges = merge && merge->rank == best.rank;
      tokens[kept] = merges ? best.merged : tokens[i];
      i += merges ? 1 : 0;
    }
    tokens.resize(kept);
  }
}

void BytePairEncoding::encode(std::string_view text, std::vector<std::int64_t>& tokens) {
  for_each_word(text, [&](std::string_view word) {
    const auto known = known_words_.find(std::string(word));
    if (known != known_words_.end()) {
      tokens.insert(tokens.end(), known->second.begin(), known->second.end());
      return;
    }
    const Tokens own = encode_word(word);
    tokens.insert(tokens.end(), own.begin(), own.end());
    if (known_words_.size() < most_known_words && word.size() <= most_known_bytes)
      known_words_.emplace(word, own);
  });
}

std::string BytePairEncoding::decode(const std::vector<std::int64_t>& tokens) const {
  std::string text;
  for (const std::int64_t token : tokens)
    text += bytes_of_.at(token);
  return text;
}

}  // namespace bench::steps
