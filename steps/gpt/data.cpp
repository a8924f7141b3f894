#include "gpt/data.hpp"

namespace bench::gpt {
namespace {

/// A random function of its argument: Steele et al., Fast Splittable Pseudorandom Number Generators
/// (OOPSLA 2014), figure 16, SplitMix64 with variant 13 of the mixing function.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

torch::Tensor SyntheticTokens::samples(std::int64_t first, std::int64_t count,
                                       const torch::Device& device) const {
  torch::Tensor tokens = torch::empty(
      {count, sequence_ + 1}, torch::TensorOptions(torch::kLong).pinned_memory(device.is_cuda()));
  std::int64_t* token = tokens.data_ptr<std::int64_t>();
  for (std::int64_t sample = first; sample < first + count; ++sample) {
    const std::uint64_t stream = mixed(seed_ ^ mixed(static_cast<std::uint64_t>(sample)));
    for (std::int64_t place = 0; place <= sequence_; ++place)
      *token++ = static_cast<std::int64_t>(mixed(stream + static_cast<std::uint64_t>(place)) %
                                           static_cast<std::uint64_t>(kinds_));
  }
  return tokens.to(device, /*non_blocking=*/true);
}

}  // namespace bench::gpt
