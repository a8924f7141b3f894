#pragma once

#include "gpt/grid.hpp"
#include "harness/timers.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace bench::gpt {

/// The passes of one stage of a pipeline in an iteration. It begins with as many forward passes as
/// there are stages behind it and then does one forward and one backward pass in turn (1F1B), so
/// that it keeps what at most `stages` micro-batches need for their backward pass. Narayanan et al.
/// (arXiv:2104.04473), section 2.2.1. One stage alone has no others to wait for.
class Pipeline {
 public:
  struct Passes {
    /// Of a micro-batch, from 0: (what the stage before returned, undefined in the first) to what
    /// goes to the next one; in the last stage to the loss.
    std::function<torch::Tensor(std::int64_t micro_batch, const torch::Tensor& input)> forward;
    /// From what `forward` returned and its gradient, undefined in the last stage.
    std::function<void(const torch::Tensor& output, const torch::Tensor& gradient)> backward;
  };

  /// @param grid must outlive this object
  /// @param shape of what goes from stage to stage, the same for all micro-batches
  Pipeline(Grid& grid, std::vector<std::int64_t> shape, const torch::TensorOptions& tensors);

  /// Waiting for other stages is timed as `comm`.
  void run(std::int64_t micro_batches, const Passes& passes, steps::Timers& timers);

 private:
  struct UnderWay {
    torch::Tensor input;  ///< Undefined in the first stage.
    torch::Tensor output;
  };

  void forward(std::int64_t micro_batch, const Passes& passes, steps::Timers& timers);
  void backward(const Passes& passes, steps::Timers& timers);
  torch::Tensor received(steps::Communicator& line, std::int64_t from, steps::Timers& timers);
  void send(steps::Communicator& line, const torch::Tensor& tensor, std::int64_t to);

  Grid& grid_;
  std::vector<std::int64_t> shape_;
  torch::TensorOptions tensors_;
  std::deque<UnderWay> under_way_;
  std::deque<steps::Pending> sends_;
};

}  // namespace bench::gpt
