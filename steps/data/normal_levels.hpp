#pragma once

#include <cstddef>
#include <vector>

namespace bench::steps {

/// Equally likely values, in rising order, that stand for N(0, 1): a random one of them costs a
/// look into a table, where exact draws cost logarithms.
///
/// Each is the quantile in the middle of its share of the distribution.
///
/// @param cut nothing lies further than that from 0
std::vector<double> normal_levels(std::size_t count, double cut);

}  // namespace bench::steps
