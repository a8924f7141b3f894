#pragma once

#include <functional>
#include <string_view>

namespace bench::steps {

/// Divides a text into the words that GPT-2's tokenizer encodes one by one. Together they are the
/// text. A word is the first of these that matches, where L are letters, N numbers and S spaces:
///
///     's 't 're 've 'm 'll 'd     a space or none, then L+, N+, or characters of no class+
///     S+ up to the last before another character          S+
///
/// Source: `encoder.py` of OpenAI's GPT-2, whose expression is
/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.
/// @param text UTF-8; bytes that are not count as characters of no class
void for_each_word(std::string_view text, const std::function<void(std::string_view word)>& use);

}  // namespace bench::steps
