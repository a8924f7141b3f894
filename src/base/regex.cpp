#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <algorithm>

#include <fmt/core.h>
#include <pcre2.h>

#include <bench/base/error.hpp>
#include <bench/base/regex.hpp>

namespace bench {

struct Regex::Code {
  pcre2_code* compiled = nullptr;
  pcre2_match_data* found = nullptr;

  Code() = default;
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() {
    pcre2_match_data_free(found);
    pcre2_code_free(compiled);
  }
  /// Its number; 0 if there is none.
  std::size_t group(const std::string& name) const {
    const int number =
        pcre2_substring_number_from_name(compiled, reinterpret_cast<PCRE2_SPTR>(name.c_str()));
    return number > 0 ? static_cast<std::size_t>(number) : 0;
  }
};

std::string Regex::Match::operator[](std::size_t group) const {
  const std::size_t begin = 2 * group < bounds_.size() ? bounds_[2 * group] : PCRE2_UNSET;
  return begin == PCRE2_UNSET ? ""
                              : std::string(text_.substr(begin, bounds_[2 * group + 1] - begin));
}

std::string Regex::Match::operator[](const std::string& name) const {
  const std::size_t group = regex_->code_->group(name);
  return group == 0 ? "" : (*this)[group];
}

Regex::Regex(const std::string& expression) : code_(std::make_unique<Code>()) {
  int error = 0;
  std::size_t offset = 0;
  code_->compiled = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()),
                                  expression.size(), 0, &error, &offset, nullptr);
  if (!code_->compiled) {
    PCRE2_UCHAR message[256];
    pcre2_get_error_message(error, message, sizeof message);
    throw Error(Id::invalid_expression,
                fmt::format("'{}' is not a regular expression: {}", expression,
                            reinterpret_cast<const char*>(message)));
  }
  code_->found = pcre2_match_data_create_from_pattern(code_->compiled, nullptr);
}

Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

std::optional<Regex::Match> Regex::search(std::string_view text, std::size_t begin) const {
  const int count = pcre2_match(code_->compiled, reinterpret_cast<PCRE2_SPTR>(text.data()),
                                text.size(), begin, 0, code_->found, nullptr);
  if (count < 0)
    return std::nullopt;
  Match match;
  match.regex_ = this;
  match.text_ = text;
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(code_->found);
  match.bounds_.assign(bounds, bounds + 2 * static_cast<std::size_t>(count));
  return match;
}

std::vector<std::string> Regex::find_all(std::string_view text) const {
  std::vector<std::string> all;
  for (auto match = search(text); match;
       match = search(text, std::max(match->end(), match->begin() + 1)))
    all.push_back((*match)[1]);
  return all;
}

std::size_t Regex::groups() const {
  std::uint32_t count = 0;
  pcre2_pattern_info(code_->compiled, PCRE2_INFO_CAPTURECOUNT, &count);
  return count;
}

bool Regex::has_group(const std::string& name) const {
  return code_->group(name) != 0;
}

}  // namespace bench
