#pragma once

#include "welch.hpp"

#include <bench/verdict/comparison.hpp>

namespace bench::verdict {

/// Whether all values of one sample were measured before those of the other. Where a start time is
/// unknown, nobody knows.
bool are_one_after_other(const Sample& a, const Sample& b);

/// Whether a certain difference may come from a drift of the machine: one sample was measured right
/// behind the other, the values of both drift the way that the difference goes (a slope that is
/// certain by 95 %), and the difference is not certain any more, or of the other sign, where this
/// slope is taken off (analysis of covariance).
///
/// Samples that overlap in time have met the same drift. Between samples that are farther apart
/// than the longer of them lasted, nobody knows how a drift went on.
bool may_be_drift(const Sample& a, const Sample& b, const Difference& difference);

}  // namespace bench::verdict
