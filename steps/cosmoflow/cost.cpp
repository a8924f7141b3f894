#include "cosmoflow/cost.hpp"

#include "cosmoflow/network.hpp"
#include "cosmoflow/sample.hpp"
#include "harness/cost.hpp"

#include <cstdint>

namespace bench::cosmoflow {

steps::Cost cost(const NetworkOptions& options) {
  steps::Cost total;
  std::int64_t side = options.size;
  total.input({redshift_count, side, side, side});
  std::int64_t in = redshift_count;
  const std::int64_t kernel = options.kernel();
  for (const std::int64_t out : convolution_channels) {
    total.convolution(
        {.in = in, .out = out, .kernel = {kernel, kernel, kernel}, .output = {side, side, side}});
    in = out;
    side /= 2;
  }
  in = flattened_size(options.size);
  for (const std::int64_t out : dense_widths) {
    total.linear({.in = in, .out = out});
    in = out;
  }
  return total;
}

}  // namespace bench::cosmoflow
