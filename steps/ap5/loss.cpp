#include "ap5/loss.hpp"

#include "ap5/critic.hpp"
#include "ap5/generator.hpp"
#include "harness/frozen_parameters.hpp"

namespace bench::ap5 {
namespace {

/// Keeps the gradient of the root finite where the critic's gradient is 0.
constexpr double epsilon = 1e-12;

}  // namespace

torch::Tensor temperature_of(const torch::Tensor& targets) {
  return targets.narrow(1, 0, 1);
}

torch::Tensor gradient_penalty(Critic& critic, const torch::Tensor& generated,
                               const torch::Tensor& real, const torch::Tensor& alpha) {
  const torch::Tensor between =
      (real + alpha * (generated - real)).detach().set_requires_grad(true);  // (B, 1, H, W)
  const torch::Tensor scores = critic(between);                              // (B, 1)
  const torch::Tensor gradient =
      torch::autograd::grad({scores}, {between}, {torch::ones_like(scores)},
                            /*retain_graph=*/true, /*create_graph=*/true)
          .front();
  const torch::Tensor norm = torch::sqrt(gradient.square().mean({1, 2, 3}) + epsilon);  // (B)
  return (norm - 1).square().mean();
}

torch::Tensor critic_loss(Critic& critic, const torch::Tensor& generated, const torch::Tensor& real,
                          const torch::Tensor& alpha) {
  const torch::Tensor distance =
      critic(generated).to(real.scalar_type()).mean() - critic(real).to(real.scalar_type()).mean();
  return distance + penalty_weight * gradient_penalty(critic, generated, real, alpha);
}

torch::Tensor critic_loss(Generator& generator, Critic& critic, const torch::Tensor& predictors,
                          const torch::Tensor& target) {
  torch::Tensor generated;
  {
    const torch::NoGradGuard no_gradient;
    generated = temperature_of(generator(predictors)).to(target.scalar_type());
  }
  const torch::Tensor alpha = torch::randn({target.size(0), 1, 1, 1}, target.options());
  return critic_loss(critic, generated, temperature_of(target), alpha);
}

torch::Tensor reconstruction_loss(const torch::Tensor& generated, const torch::Tensor& target) {
  return (generated.to(target.scalar_type()) - target).abs().mean({0, 2, 3}).sum();
}

GeneratorLoss generator_loss(Critic& critic, const torch::Tensor& generated,
                             const torch::Tensor& target) {
  const torch::Tensor reconstruction = reconstruction_loss(generated, target);
  const steps::FrozenParameters frozen(*critic);
  const torch::Tensor score = critic(temperature_of(generated)).to(target.scalar_type()).mean();
  return {.total = reconstruction_weight * reconstruction - score,
          .reconstruction = reconstruction};
}

}  // namespace bench::ap5
