#pragma once

#include "harness/torch_all.hpp"

#include <cstdint>

namespace bench::ap6 {

/// Sizes of a memory bank.
struct BankSizes {
  std::int64_t batches = 1;     ///< Of this rank in an epoch.
  std::int64_t batch_size = 1;  ///< Samples.
  std::int64_t crops = 2;
  std::int64_t features = 128;

  std::int64_t rows() const { return batches * batch_size; }
};

/// The features that this rank has computed in its last steps, as many as an epoch has.
class MemoryBank {
 public:
  MemoryBank(const BankSizes& sizes, const torch::Device& device);

  /// Keeps the features of a batch in place of those of the oldest one.
  /// @param index (B) int64, numbers of the samples
  /// @param features (B, crops, features)
  void add(const torch::Tensor& index, const torch::Tensor& features);

  const BankSizes& sizes() const { return sizes_; }
  /// (rows), the sample of each row.
  const torch::Tensor& index() const { return index_; }
  /// (rows, features), the features of one of the crops.
  torch::Tensor features(std::int64_t crop) const { return features_[crop]; }

 private:
  BankSizes sizes_;
  torch::Tensor index_;     // (rows) int64
  torch::Tensor features_;  // (crops, rows, features)
  std::int64_t oldest_ = 0;
};

}  // namespace bench::ap6
