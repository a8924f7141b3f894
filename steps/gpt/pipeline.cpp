#include "gpt/pipeline.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bench::gpt {

Pipeline::Pipeline(Grid& grid, std::vector<std::int64_t> shape, const torch::TensorOptions& tensors)
    : grid_(grid), shape_(std::move(shape)), tensors_(tensors) {}

void Pipeline::run(std::int64_t micro_batches, const Passes& passes, steps::Timers& timers) {
  const std::int64_t behind = grid_.stages() - 1 - grid_.stage();
  const std::int64_t ahead = std::min(behind, micro_batches);
  for (std::int64_t i = 0; i < ahead; ++i)
    forward(i, passes, timers);
  for (std::int64_t i = ahead; i < micro_batches; ++i) {
    forward(i, passes, timers);
    backward(passes, timers);
  }
  while (!under_way_.empty())
    backward(passes, timers);
  for (; !sends_.empty(); sends_.pop_front())
    sends_.front().wait();
}

void Pipeline::forward(std::int64_t micro_batch, const Passes& passes, steps::Timers& timers) {
  torch::Tensor input;
  if (!grid_.is_first_stage())
    input = received(grid_.onward(), grid_.stage() - 1, timers).requires_grad_();
  const torch::Tensor output = passes.forward(micro_batch, input);
  if (!grid_.is_last_stage())
    send(grid_.onward(), output, grid_.stage() + 1);
  under_way_.push_back({input, output});
}

void Pipeline::backward(const Passes& passes, steps::Timers& timers) {
  const UnderWay pass = std::move(under_way_.front());
  under_way_.pop_front();
  torch::Tensor gradient;
  if (!grid_.is_last_stage())
    gradient = received(grid_.back(), grid_.stage() + 1, timers);
  passes.backward(pass.output, gradient);
  if (!grid_.is_first_stage())
    send(grid_.back(), pass.input.grad(), grid_.stage() - 1);
}

torch::Tensor Pipeline::received(steps::Communicator& line, std::int64_t from,
                                 steps::Timers& timers) {
  return timers.timed(steps::Region::comm, [&] {
    torch::Tensor result = torch::empty(shape_, tensors_);
    line.receive(result, static_cast<int>(from)).wait();
    return result;
  });
}

/// What is sent lives until it has arrived. The neighbours cannot be that many messages behind, so
/// that waiting for the oldest takes no time and frees its memory.
void Pipeline::send(steps::Communicator& line, const torch::Tensor& tensor, std::int64_t to) {
  for (; std::ssize(sends_) > 2 * grid_.stages(); sends_.pop_front())
    sends_.front().wait();
  sends_.push_back(line.send(tensor.detach().contiguous(), static_cast<int>(to)));
}

}  // namespace bench::gpt
