#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::evaluate {

/// The value of a parameter, or null if there is none of that name.
using Lookup = std::function<const std::string*(std::string_view name)>;

/// `text` with `$name` and `${name}` replaced by parameter values, as JUBE does it.
///
/// Names are ASCII `[A-Za-z_][A-Za-z0-9_]*`, the longest counts; unknown ones stay as they are, for
/// the shell. `$$` gives `$` and takes no part. Names may be built from values: `${p$n}`,
/// `${p${n}}` and `$p$n` are looked up again, five rounds at most and one last. An inserted value
/// is never searched again. A `$` before anything else stays. Unlike in JUBE a lone `$` before
/// white space or at the end is not doubled, and any run of `$` is read in pairs from the left:
/// `$$$$$a` is `$$A` (JUBE: `$A`).
std::string substitute(std::string_view text, const Lookup& lookup);

/// The names that `text` may refer to, `$name` and `${name}`, in order, each once; `$$` is skipped.
/// A built name such as `${p$n}` gives its inner name and, as a prefix that may grow, nothing else.
std::vector<std::string> names_in(std::string_view text);

/// A value as a text that substitution gives back as it is, but for `$name` and `${name}` of
/// `names`.
std::string escape_all_but(std::string_view text, const std::vector<std::string>& names);

/// `text` with each `$name` and `${name}` as `${name_1}`, `${name_2}` and so on; `$$` is skipped.
/// @param count of those before it, to which these are added
std::string number_names(std::string_view text, std::string_view name, int& count);

}  // namespace bench::evaluate
