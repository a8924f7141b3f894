#pragma once

#include "data/synthetic_fields.hpp"

#include <string>

namespace bench::dataset {

/// The field of an option `--field NAME:TYPE:SHAPE[:VALUES]`.
///
///     climate/data:float32:768x1152x16:normal   N(0, 1); without `normal` uniform in 0 <= x < 1
///     climate/labels:int64:768x1152:3           0, 1 or 2; without a number 0 or 1
///     year:int64:                               one number
///
/// @throws UsageError that shows the option, if it has another form
steps::SyntheticField parse_field(const std::string& option);

}  // namespace bench::dataset
