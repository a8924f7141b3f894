#pragma once

#include <optional>
#include <string_view>

namespace bench::references {

/// The factor that makes a number in unit `from` one in unit `to`: 60 from `min` to `s`, 3600 from
/// `Wh` to `J`, 0.001 from `MB/s` to `GB/s`. Units are products of known ones (of time, energy,
/// power, data and FLOP, with their prefixes) and of any other words, with `*` or a blank between
/// factors and `/` before what divides.
/// @returns nothing where the units measure different things
std::optional<double> conversion_factor(std::string_view from, std::string_view to);

}  // namespace bench::references
