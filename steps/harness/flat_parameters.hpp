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
/// Parameters of two and more dimensions stand first, the others (biases and normalisations, which
/// decay of weights does not apply to) behind them; within both in the order given, copies last.
/// What fills the rows up to a multiple is 0 in both and stays so.
class FlatParameters {
 public:
  /// Numbers of a row that stand beside each other.
  struct Range {
    std::int64_t begin;
    std::int64_t end;  ///< Behind the last.
  };

  /// Moves the parameters' memory.
  /// @param parameters of one format and device
  /// @param multiple N is a multiple of it, so that as many ranks have equal shares
  /// @param copies which of the parameters are not this rank's to count, since another has them too
  explicit FlatParameters(const std::vector<torch::Tensor>& parameters, std::int64_t multiple = 1,
                          const std::vector<torch::Tensor>& copies = {});

  const torch::Tensor& values() const { return values_; }
  const torch::Tensor& gradients() const { return gradients_; }
  /// How many of the numbers, from the first on, decay.
  std::int64_t decaying() const { return decaying_; }
  /// Where those stand that are not copies, in order.
  const std::vector<Range>& own() const { return own_; }
  /// The part of the gradients that is a parameter's, in its shape.
  /// @throws std::invalid_argument if it is none of these parameters
  torch::Tensor gradient_of(const torch::Tensor& parameter) const;

  /// The next gradients begin a new sum.
  void begin_step() { empty_ = true; }
  /// Adds the gradients of a backward pass to the sums and lets go of them. A parameter without a
  /// gradient adds nothing.
  void take_gradients();

 private:
  struct Slot {
    torch::Tensor parameter;
    bool is_copy = false;
    torch::Tensor sum = {};  ///< Its part of the gradients, in its shape.
  };

  std::vector<Slot> slots_;
  torch::Tensor values_;
  torch::Tensor gradients_;
  std::vector<Range> own_;
  std::int64_t decaying_ = 0;
  bool empty_ = true;
};

}  // namespace bench::steps
