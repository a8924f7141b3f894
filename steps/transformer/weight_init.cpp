#include "transformer/weight_init.hpp"

#include "data/random.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace bench::transformer {
namespace {

/// A parameter of its own: neither a view nor shared with what was drawn.
torch::Tensor copied(const torch::Tensor& drawn, const torch::TensorOptions& tensors) {
  return drawn.to(tensors, /*non_blocking=*/false, /*copy=*/true);
}

}  // namespace

torch::Tensor WeightInit::draw(std::uint64_t number, torch::IntArrayRef shape,
                               double deviation) const {
  const torch::Tensor result = torch::empty(shape, tensors.dtype(torch::kFloat));
  if (result.is_meta())
    return result;  // the device has no generator
  at::Generator generator = at::globalContext().defaultGenerator(result.device()).clone();
  generator.set_current_seed(steps::mixed(seed ^ steps::mixed(number)));
  return result.normal_(0, deviation, generator);
}

torch::Tensor WeightInit::own_slice(const torch::Tensor& drawn, std::int64_t dimension) const {
  return drawn.chunk(group.size(), dimension)[static_cast<std::size_t>(group.rank())];
}

torch::Tensor WeightInit::whole(std::uint64_t number, std::int64_t rows, std::int64_t columns,
                                double deviation) const {
  return copied(draw(number, {rows, columns}, deviation), tensors);
}

torch::Tensor WeightInit::split_rows(std::uint64_t number, std::int64_t rows, std::int64_t columns,
                                     double deviation, std::int64_t stacked) const {
  const torch::Tensor drawn = draw(number, {stacked, rows / stacked, columns}, deviation);
  return copied(own_slice(drawn, 1).flatten(0, 1), tensors);
}

torch::Tensor WeightInit::split_columns(std::uint64_t number, std::int64_t rows,
                                        std::int64_t columns, double deviation) const {
  return copied(own_slice(draw(number, {rows, columns}, deviation), 1), tensors);
}

double residual_deviation(double deviation, std::int64_t layers) {
  return deviation / std::sqrt(2.0 * static_cast<double>(layers));
}

}  // namespace bench::transformer
