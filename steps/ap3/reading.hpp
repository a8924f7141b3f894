#pragma once

#include "ap3/column.hpp"
#include "harness/torch_all.hpp"

namespace bench::ap3 {

/// Stands in for a network where only the reading of the data is measured, as by D3.7's `dl_test`.
class ReadingImpl : public torch::nn::Module {
 public:
  ReadingImpl() : nothing_(register_parameter("nothing", torch::zeros({1}))) {}

  /// @returns 0
  torch::Tensor forward(const Columns&) { return 0 * nothing_.sum(); }

 private:
  torch::Tensor nothing_;  // a trainer wants a parameter
};
TORCH_MODULE(Reading);

}  // namespace bench::ap3
