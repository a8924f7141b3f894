#include "ap6/cost.hpp"

#include "ap6/network.hpp"
#include "ap6/sample.hpp"
#include "harness/cost.hpp"
#include "vision/network/counts.hpp"

namespace bench::ap6 {

steps::Cost cost(const Grid& grid, const Heads& heads) {
  steps::Cost total = vision::count(encoder_layers(), encoder_input(crop_of(grid))).cost;
  return total.linear({.in = feature_count, .out = heads.count * heads.clusters, .bias = false})
      .applied(crop_count);
}

}  // namespace bench::ap6
