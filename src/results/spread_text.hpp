#pragma once

#include <string>

#include <bench/results/table.hpp>

namespace bench::result {

/// `41.2 ± 0.3`, with a `*` behind it where there is an outlier: the median, and how far the
/// farther end of its confidence interval is. In the format of the column, or without one, or with
/// one of integers, to the last one or two digits that this distance has.
std::string spread_text(const Cell& cell, const Heading& heading);

}  // namespace bench::result
