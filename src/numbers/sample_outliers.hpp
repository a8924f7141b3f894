#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench::verdict {

/// The outliers of two samples: values farther from the median of their sample than 3.5 robust
/// standard deviations (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993). The
/// deviation is 1.4826 times the median distance of all values from the medians of their samples,
/// which is that of normal noise, corrected for two degrees of freedom. A sample whose own
/// deviation is more than 2.5 times that is measured by its own: beside a sample with little noise,
/// most values of a noisy one would seem to be outliers.
///
/// A value within 2.5 deviations of the other sample's median is not an outlier: with bimodal
/// noise, the samples may have the modes in different shares. A sample with fewer than five values
/// has no outliers.
struct Outliers {
  std::vector<bool> in_a;
  std::vector<bool> in_b;
  std::size_t count = 0;
};

/// @param a, b at least one value each
Outliers outliers_of(std::span<const double> a, std::span<const double> b);

}  // namespace bench::verdict
