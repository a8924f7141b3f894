#pragma once

#include "welch.hpp"

#include <bench/numbers/comparison.hpp>

namespace bench::verdict {

/// Whether all values of one sample were measured before those of the other. False if a start time
/// is unknown.
bool are_one_after_other(const Sample& a, const Sample& b);

/// Whether a significant difference may come from a drift of the machine: one sample was measured
/// right after the other, both drift in the direction of the difference (slope significant at 5 %),
/// and without this slope (analysis of covariance) the difference is not significant, or has the
/// opposite sign.
///
/// Samples that overlap in time saw the same drift. If the gap between two samples is longer than
/// either of them, a drift cannot be extrapolated across it.
bool may_be_drift(const Sample& a, const Sample& b, const Difference& difference);

}  // namespace bench::verdict
