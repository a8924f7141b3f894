#include "ap6/memory_bank.hpp"

#include <cstdint>

namespace bench::ap6 {

MemoryBank::MemoryBank(const BankSizes& sizes, const torch::Device& device)
    : sizes_(sizes),
      index_(torch::zeros(sizes.rows(), torch::TensorOptions(device).dtype(torch::kLong))),
      features_(torch::zeros({sizes.crops, sizes.rows(), sizes.features},
                             torch::TensorOptions(device))) {}

void MemoryBank::add(const torch::Tensor& index, const torch::Tensor& features) {
  const torch::NoGradGuard no_gradient;
  const std::int64_t row = oldest_ * sizes_.batch_size;
  index_.narrow(0, row, sizes_.batch_size).copy_(index);
  features_.narrow(1, row, sizes_.batch_size).copy_(features.transpose(0, 1));
  oldest_ = (oldest_ + 1) % sizes_.batches;
}

}  // namespace bench::ap6
