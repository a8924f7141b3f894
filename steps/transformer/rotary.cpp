#include "transformer/rotary.hpp"

#include <cstdint>

namespace bench::transformer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

enum class Direction { forward, inverse };

torch::Tensor rotated(const torch::Tensor& x, const torch::Tensor& cosine,
                      const torch::Tensor& sine, Direction direction) {
  const int sign = direction == Direction::forward ? 1 : -1;
  const std::int64_t half = x.size(-1) / 2;
  const torch::Tensor first = x.narrow(-1, 0, half);
  const torch::Tensor second = x.narrow(-1, half, half);
  torch::Tensor result = torch::empty(x.sizes(), x.options());
  torch::Tensor result_first = result.narrow(-1, 0, half);
  torch::Tensor result_second = result.narrow(-1, half, half);
  at::mul_out(result_first, first, cosine).addcmul_(second, sine, -sign);
  at::mul_out(result_second, second, cosine).addcmul_(first, sine, sign);
  return result;
}

/// The gradient of a rotation is the inverse rotation, so only the angles are kept.
class Rotation : public torch::autograd::Function<Rotation> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& cosine, const torch::Tensor& sine) {
    context->save_for_backward({cosine, sine});
    return rotated(x, cosine, sine, Direction::forward);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    return {rotated(gradients[0], saved[0], saved[1], Direction::inverse), {}, {}};
  }
};

}  // namespace

Rotary::Rotary(std::int64_t sequence, std::int64_t head_size, double base,
               const torch::TensorOptions& options) {
  const auto exact = options.dtype(torch::kDouble);
  const torch::Tensor exponents =
      torch::arange(0, head_size, 2, exact) / static_cast<double>(head_size);
  const torch::Tensor angles =
      torch::outer(torch::arange(sequence, exact), torch::pow(base, -exponents))
          .view({sequence, 1, 1, head_size / 2});
  cosine_ = angles.cos().to(options.dtype());
  sine_ = angles.sin().to(options.dtype());
}

torch::Tensor Rotary::rotate(const torch::Tensor& x, std::int64_t first) const {
  const std::int64_t count = x.size(1);
  return Rotation::apply(x, cosine_.narrow(0, first, count), sine_.narrow(0, first, count));
}

}  // namespace bench::transformer
