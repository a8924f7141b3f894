#pragma once

#include <functional>
#include <string_view>

namespace bench::steps {

/// Divides a text into the words that GPT-2's tokenizer encodes one by one. Together they are the
/// text.
///
/// Source: `encoder.py` of OpenAI's GPT-2, whose expression is
/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.
/// @param text UTF-8; bytes in a row that are not are a word
void for_each_word(std::string_view text, const std::function<void(std::string_view word)>& use);

}  // namespace bench::steps
