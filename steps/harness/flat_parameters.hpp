#pragma once

#include "harness/torch_all.hpp"

#include <cstdint>
#include <vector>

namespace bench::steps {

/// The parameters of a model in one row of memory, and the sums of their gradients in another: an
/// optimizer makes one pass over them, and ranks exchange them without packing.
///
///     values     (N) in the model's format; the parameters become views of it
///     gradients  (N) fp32: the sums over the micro-batches of a step
///
/// Parameters of two and more dimensions come first, the others (biases and normalisations, which
/// weight decay usually leaves out) behind them; within both in the order given, copies last. Each
/// keeps the order of its memory (channels-last weights stay so) and begins at a multiple of
/// `alignment`. The numbers between them and behind the last are 0 in both rows and stay so.
class FlatParameters {
 public:
  /// 64 bytes of fp32: cuDNN's tensor-core kernels want weights aligned to 16 bytes in any format.
  static constexpr std::int64_t alignment = 16;

  /// A stretch of a row.
  struct Range {
    std::int64_t begin;
    std::int64_t end;  ///< One past the last.

    bool operator==(const Range&) const = default;
    bool overlaps(const Range& other) const { return begin < other.end && other.begin < end; }
  };

  /// One of the parameters, and its part of the rows.
  struct Slot {
    torch::Tensor parameter;
    bool is_copy = false;
    Range range{};
    torch::Tensor gradient;  ///< Its part of the gradients, in its shape.
  };

  /// Moves the parameters' memory. Those that need no gradient are left out.
  /// @param parameters of one format and device
  /// @param multiple N is a multiple of it, so that as many ranks have equal shares
  /// @param copies parameters that another rank has, too, and counts in norms
  /// @throws std::invalid_argument if no parameter needs a gradient
  explicit FlatParameters(const std::vector<torch::Tensor>& parameters, std::int64_t multiple = 1,
                          const std::vector<torch::Tensor>& copies = {});

  const torch::Tensor& values() const { return values_; }
  const torch::Tensor& gradients() const { return gradients_; }
  const std::vector<Slot>& slots() const { return slots_; }
  /// The first so many numbers belong to parameters of two and more dimensions.
  std::int64_t matrix_numbers() const { return matrix_numbers_; }
  /// The stretches without copies, in order.
  const std::vector<Range>& own() const { return own_; }
  /// The part of the gradients that is a parameter's, in its shape.
  /// @throws std::invalid_argument if it is none of these parameters
  const torch::Tensor& gradient_of(const torch::Tensor& parameter) const;

 private:
  std::vector<Slot> slots_;
  torch::Tensor values_;
  torch::Tensor gradients_;
  std::vector<Range> own_;
  std::int64_t matrix_numbers_ = 0;
};

}  // namespace bench::steps
