#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench::verdict {

/// The outliers of two samples: values farther from the median of their sample than 3.5 robust
/// standard deviations (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993). The
/// deviation is 1.4826 times the median distance of all values from the medians of their samples,
/// which is that of normal noise, with two degrees of freedom taken off.
///
/// A value within 2.5 of the other sample's median is no outlier: of noise with two modes each
/// sample may have another one more often. Nor is any where a sample has fewer than five values.
struct Outliers {
  std::vector<bool> in_a;
  std::vector<bool> in_b;
  std::size_t count = 0;
};

/// @param a, b at least one value each
Outliers outliers_of(std::span<const double> a, std::span<const double> b);

}  // namespace bench::verdict
