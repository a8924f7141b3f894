#include "data/json_vocabulary.hpp"

#include "data/data_error.hpp"
#include "data/mapped_file.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace bench::steps {
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

}  // namespace bench::steps
