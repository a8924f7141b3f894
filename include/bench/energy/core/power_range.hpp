#pragma once

#include <algorithm>
#include <optional>

namespace bench::energy {

/// The lowest and the highest power during a run.
struct PowerRange {
  std::optional<double> min_w;
  std::optional<double> max_w;
};

/// A range that contains the mean power. A counter that moves rarely can leave most of the energy
/// outside of the intervals whose power is known.
inline PowerRange widened_to(std::optional<double> mean_w, PowerRange range) {
  if (mean_w && range.min_w && range.max_w) {
    range.min_w = std::min(*range.min_w, *mean_w);
    range.max_w = std::max(*range.max_w, *mean_w);
  }
  return range;
}

}  // namespace bench::energy
