#pragma once

#include "harness/torch_all.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {

/// Samples as tensors, one for each field, by name: `batch["image"]`.
class Batch {
 public:
  struct NamedTensor {
    std::string name;
    torch::Tensor tensor;  ///< (B, shape of the field)
  };

  Batch() = default;
  explicit Batch(std::vector<NamedTensor> tensors) : tensors_(std::move(tensors)) {}

  /// @throws std::out_of_range naming the fields that exist
  const torch::Tensor& operator[](std::string_view name) const;

  /// In the order of the fields.
  const std::vector<NamedTensor>& tensors() const { return tensors_; }

  /// A batch of the same names whose tensors are `make(tensor)`.
  template <typename Make>
  Batch transformed(const Make& make) const {
    std::vector<NamedTensor> result;
    for (const NamedTensor& field : tensors_)
      result.push_back({field.name, make(field.tensor)});
    return Batch(std::move(result));
  }

  /// Its first samples, in the same memory.
  /// @param count at most `samples()`
  Batch first(std::int64_t count) const {
    return transformed([&](const torch::Tensor& tensor) { return tensor.narrow(0, 0, count); });
  }

  /// Copies all tensors from a batch with the same fields. On a GPU it does not wait for the copy.
  void copy_from(const Batch& other);

  std::int64_t samples() const;  ///< B.
  std::int64_t bytes() const;    ///< Of all tensors.

 private:
  std::vector<NamedTensor> tensors_;
};

}  // namespace bench::steps
