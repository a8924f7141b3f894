#include "transformer/swiglu.hpp"

#include "transformer/linear.hpp"
#include "transformer/weight_init.hpp"

#include <cstdint>
#include <vector>

namespace bench::transformer {

SwiGluImpl::SwiGluImpl(const WeightInit& init, std::uint64_t number, std::int64_t hidden,
                       std::int64_t width, double deviation, double down_deviation)
    : gate_up_(register_module(
          "gate_up",
          ColumnLinear(
              init, number,
              LinearOptions{.in = hidden, .out = 2 * width, .deviation = deviation, .bias = false},
              /*stacked=*/2))),
      down_(register_module(
          "down",
          RowLinear(init, number + 1,
                    LinearOptions{
                        .in = width, .out = hidden, .deviation = down_deviation, .bias = false}))) {
}

torch::Tensor SwiGluImpl::forward(const torch::Tensor& x) {
  const std::vector<torch::Tensor> gate_up = gate_up_->forward(x).chunk(2, 2);  // (B, S, width/T)
  return down_->forward(torch::silu(gate_up[0]) * gate_up[1]);
}

}  // namespace bench::transformer
