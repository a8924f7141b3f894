#include "gpt/recompute.hpp"

#include <memory>
#include <mutex>
#include <utility>

#include <ATen/CPUGeneratorImpl.h>

namespace bench::gpt {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

using Work = std::function<torch::Tensor(const torch::Tensor&)>;

at::Generator generator_of(const torch::Device& device) {
  return at::globalContext().defaultGenerator(device);
}

torch::Tensor random_state(at::Generator generator) {
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

void set_random_state(at::Generator generator, const torch::Tensor& state) {
  const std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

/// The work, in the form in which a context can carry it.
struct CarriedWork : torch::CustomClassHolder {
  explicit CarriedWork(Work w) : work(std::move(w)) {}
  Work work;
};

class Recomputation : public torch::autograd::Function<Recomputation> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const c10::intrusive_ptr<CarriedWork>& carried) {
    context->saved_data["work"] = c10::IValue::make_capsule(carried);
    context->save_for_backward({x, random_state(generator_of(x.device()))});
    const torch::NoGradGuard no_gradient;
    return carried->work(x);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto carried = context->saved_data["work"].toCapsule();
    const torch::Tensor x = saved[0].detach().requires_grad_();
    const at::Generator generator = generator_of(x.device());
    const torch::Tensor now = random_state(generator);
    set_random_state(generator, saved[1]);
    torch::Tensor y;
    {
      const torch::AutoGradMode with_gradient(true);
      y = static_cast<CarriedWork*>(carried.get())->work(x);
    }
    set_random_state(generator, now);
    y.backward(gradients[0]);
    return {x.grad(), {}};
  }
};

}  // namespace

torch::Tensor recomputed(const Work& work, const torch::Tensor& x) {
  return Recomputation::apply(x, c10::make_intrusive<CarriedWork>(work));
}

}  // namespace bench::gpt
