#pragma once

#include <string>

namespace bench::energy {

/// A text for file names with `%h` replaced by the host's name and each `%q{VAR}` by the value of
/// that environment variable: `x%q{SLURM_PROCID}`.
/// @throws bench::Error for a variable that is not set, a `%q` without its braces, and a result
///         with a slash in it
std::string expand_suffix(const std::string& text);

/// The suffix as jpwr makes it from its --df-suffix: `<host>.<pid>` without one,
/// `TEXT.<host>.<pid>` with a plain text, and the text alone where it holds `%q{VAR}`. Unlike jpwr,
/// which lets the variable's value take the place of the whole text, replaces in place.
/// @throws as expand_suffix
std::string expand_jpwr_suffix(const std::string& text);

}  // namespace bench::energy
