#pragma once

#include <string>
#include <string_view>

namespace bench::analyse {

/// A regular expression in PCRE2's dialect.
struct PcreExpression {
  std::string text;
  bool ascii_classes = false;  ///< `\w \d \s \b` are about ASCII: Python's `(?a)`.
  std::string fault;           ///< Why Python would refuse it; empty: it is left to PCRE2.
  std::string fault_hint;
};

/// Rewrites an expression of Python's `re` for PCRE2, so that it means the same:
///
/// - `\Z` is the very end, `\v` one character; `\xhh \uXXXX \UXXXXXXXX` and octal escapes are
///   characters, `\12` without a third octal digit is a group;
/// - a `[` inside a class is an ordinary one, so that there are no POSIX classes;
/// - `{,n}` is a repetition from 0;
/// - `(?u)` changes nothing, `(?a)` see above; such flags stand at the start only.
///
/// Escapes of a letter that Python does not know (`\h \R \z \K \Q` ...) and verbs such as
/// `(*FAIL)` are faults: PCRE2 would give them a meaning that no Python has.
PcreExpression to_pcre(std::string_view python);

}  // namespace bench::analyse
