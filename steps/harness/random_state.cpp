#include "harness/random_state.hpp"

#include <mutex>

#include <ATen/CPUGeneratorImpl.h>

namespace bench::steps {

torch::Tensor random_state(const torch::Device& device) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

void set_random_state(const torch::Device& device, const torch::Tensor& state) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

}  // namespace bench::steps
