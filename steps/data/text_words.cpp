#include "data/text_words.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>

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

}  // namespace bench::steps
