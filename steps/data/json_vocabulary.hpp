#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace bench::steps {

/// The tokens of a vocabulary and their numbers, as in GPT-2's `vocab.json`: one JSON object, whose
/// names are the tokens, and whose values are numbers from 0 on.
/// @throws UsageError if the file cannot be opened
/// @throws DataError if it is anything else, or two tokens have the same number or name
std::unordered_map<std::string, std::int64_t> read_json_vocabulary(const std::string& path);

}  // namespace bench::steps
