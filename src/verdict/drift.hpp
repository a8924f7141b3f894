#pragma once

#include "welch.hpp"

#include <bench/verdict/comparison.hpp>

namespace bench::verdict {

/// Whether a certain difference may come from a drift of the machine: one side was measured behind
/// the other, the values of both drift the same way as the difference goes (one-sided, 5 %), and
/// it is not certain any more, or of the other sign, where a common slope over time is taken off
/// (analysis of covariance).
///
/// Samples that overlap in time have met the same drift. Between samples that are farther apart
/// than the longer of them lasted, nobody knows how the drift went on. Where start times are
/// unknown, b was measured behind a, one value after the other.
bool may_be_drift(const Sample& a, const Sample& b, const Difference& difference);

}  // namespace bench::verdict
