#pragma once

#include <span>

#include <bench/base/value.hpp>
#include <bench/numbers/statistics.hpp>

namespace bench::statistics {

/// Statistics of values in order. All are reals, and `nan` if one of the values is.
using Values = std::span<const Value>;

/// The middle one, or the mean of both.
Value median(Values values, const Numbers* numbers);

/// The value below which `percent` of the values lie, between neighbours linear: definition 7 of
/// Hyndman and Fan, The American Statistician 50 (1996) 361, as numpy's and R's default.
Value percentile(Values values, const Numbers* numbers, double percent);

/// Median of the distances from the median, not scaled.
Value median_absolute_deviation(Values values, const Numbers* numbers);

/// Where the distribution function of the values stops rising steeply, and the share of the values
/// up to there: the point that lies highest above the line from the smallest value and 0 to the
/// largest and 1. Satopaa et al., Finding a "Kneedle" in a Haystack, ICDCS Workshops (2011) 166.
///
/// `nan` where that height may be chance, at 5 % by the one-sided Kolmogorov-Smirnov test against
/// values that are spread evenly, sqrt(-ln(0.05) / (2n)): then there is no clear elbow.
Value elbow(Values values, const Numbers* numbers);
Value elbow_share(Values values, const Numbers* numbers);

/// All of them ascending, as one text with blanks between: what a distribution function is made of.
Value ordered_text(Values values, const Numbers* numbers);

/// Ends of the interval in which the median lies with 95 % confidence. From six values on it is
/// that of the sign test, between two of the values: exact for every continuous distribution. David
/// and Nagaraja, Order Statistics (2003), 7.1. Fewer values cannot enclose the median so often
/// (three: 75 %, five: 94 %). There it is Student's for the mean, which is the median of values
/// that are about normal. The percentiles of the bootstrap are shorter, and too short: 75 % of
/// three values, 88 % of seven, 91 % of thirteen. `nan` of one value.
Value median_interval_low(Values values, const Numbers* numbers);
Value median_interval_high(Values values, const Numbers* numbers);

}  // namespace bench::statistics
