#include "transformer/recompute.hpp"

#include "harness/random_state.hpp"
#include "transformer/autograd_value.hpp"

#include <functional>

namespace bench::transformer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

using Work = std::function<torch::Tensor(const torch::Tensor&)>;

class Recomputation : public torch::autograd::Function<Recomputation> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x, const Work& work) {
    save_value(context, "work", work);
    context->save_for_backward({x, steps::random_state(x.device())});
    const torch::NoGradGuard no_gradient;
    return work(x);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor x = saved[0].detach().requires_grad_();
    const torch::Tensor current_state = steps::random_state(x.device());
    steps::set_random_state(x.device(), saved[1]);
    torch::Tensor y;
    {
      const torch::AutoGradMode with_gradient(true);
      y = saved_value<Work>(context, "work")(x);
    }
    steps::set_random_state(x.device(), current_state);
    y.backward(gradients[0]);
    return {x.grad(), {}};
  }
};

}  // namespace

torch::Tensor recomputed(const Work& work, const torch::Tensor& x) {
  return Recomputation::apply(x, work);
}

}  // namespace bench::transformer
