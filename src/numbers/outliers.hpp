#pragma once

#include <span>

#include <bench/base/value.hpp>
#include <bench/numbers/statistics.hpp>

namespace bench::statistics {

/// The number of outliers among the values.
Value count_of_outliers(std::span<const Value> values, const Numbers* numbers);

}  // namespace bench::statistics
