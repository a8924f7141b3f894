#pragma once

#include "format_spec.hpp"

#include <string>

namespace bench::result {

/// A number that is not negative, as `spec`'s type and precision write it: no sign, no padding, no
/// grouping.
std::string real_text(double magnitude, const FormatSpec& spec);

}  // namespace bench::result
