#pragma once

#include <string>
#include <string_view>

namespace bench::analyse {

/// A regular expression in Python's dialect, written in PCRE2's where the two differ: `\Z` (the
/// very end), `\v` (one character), `\uXXXX`, `\UXXXXXXXX` and `{,n}`. What is no expression in
/// either is left for the compiler to refuse.
std::string to_pcre(std::string_view python);

}  // namespace bench::analyse
