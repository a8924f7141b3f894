#pragma once

#include <cstddef>
#include <string>

#include <bench/base/regex.hpp>

namespace bench::support {

/// `text` with `by` in place of every match, of which none may be empty.
inline std::string replace_matches(const std::string& text, const std::string& expression,
                                   const std::string& by) {
  const Regex regex(expression);
  std::string replaced;
  std::size_t at = 0;
  while (const auto match = regex.search(text, at)) {
    replaced += text.substr(at, match->begin() - at) + by;
    at = match->end();
  }
  return replaced + text.substr(at);
}

}  // namespace bench::support
