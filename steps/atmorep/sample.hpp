#pragma once

#include "atmorep/sizes.hpp"
#include "data/fields.hpp"

#include <vector>

namespace bench::atmorep {

/// - `fields` (F, L, T, H, W): a window in time and space, normalised
/// - `token_info` (N, 8): where and when the tokens are, see `fill_token_info`
std::vector<steps::Field> fields(const Sizes& sizes);

}  // namespace bench::atmorep
