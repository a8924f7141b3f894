#pragma once

#include "atmorep/masking.hpp"
#include "atmorep/sizes.hpp"
#include "harness/cost.hpp"

namespace bench::atmorep {

/// Of `AtmoRep`. The heads count for as many tokens as are masked on average; what is recomputed
/// counts once.
steps::Cost cost(const Sizes& sizes, const Masking& masking);

}  // namespace bench::atmorep
