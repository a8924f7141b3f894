#include "transformer/pipeline.hpp"

#include "harness/communicator.hpp"
#include "harness/timers.hpp"
#include "transformer/grid.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace bench::transformer {

Pipeline::Pipeline(Grid& grid, std::vector<std::int64_t> shape, const torch::TensorOptions& tensors)
    : grid_(grid), shape_(std::move(shape)), tensors_(tensors) {}

void Pipeline::run(std::int64_t micro_batches, const Passes& passes, steps::Timers& timers) {
  const std::int64_t following = grid_.stages() - 1 - grid_.stage();
  const std::int64_t ahead = std::min(following, micro_batches);
  const auto forward = [&] {
    in_flight_.push_back(pass_forward(passes.forward, /*needs_gradient=*/true, timers));
  };
  for (std::int64_t i = 0; i < ahead; ++i)
    forward();
  for (std::int64_t i = ahead; i < micro_batches; ++i) {
    forward();
    backward(passes, timers);
  }
  while (!in_flight_.empty())
    backward(passes, timers);
  for (; !sends_.empty(); sends_.pop_front())
    sends_.front().wait();
}

torch::Tensor Pipeline::run_forward(const Forward& forward, steps::Timers& timers) {
  const torch::NoGradGuard no_gradient;
  return pass_forward(forward, /*needs_gradient=*/false, timers).output;
}

Pipeline::InFlight Pipeline::pass_forward(const Forward& forward, bool needs_gradient,
                                          steps::Timers& timers) {
  torch::Tensor input;
  if (!grid_.is_first_stage())
    input =
        receive(grid_.to_next_stage(), grid_.stage() - 1, timers).requires_grad_(needs_gradient);
  const torch::Tensor output = forward(input);
  if (!grid_.is_last_stage())
    send(grid_.to_next_stage(), output, grid_.stage() + 1);
  return {input, output};
}

void Pipeline::backward(const Passes& passes, steps::Timers& timers) {
  const InFlight oldest = std::move(in_flight_.front());
  in_flight_.pop_front();
  torch::Tensor gradient;
  if (!grid_.is_last_stage())
    gradient = receive(grid_.to_previous_stage(), grid_.stage() + 1, timers);
  passes.backward(oldest.output, gradient);
  if (!grid_.is_first_stage())
    send(grid_.to_previous_stage(), oldest.input.grad(), grid_.stage() - 1);
}

torch::Tensor Pipeline::receive(steps::Communicator& channel, std::int64_t from,
                                steps::Timers& timers) {
  return timers.timed(steps::Region::comm, [&] {
    torch::Tensor result = torch::empty(shape_, tensors_);
    channel.receive(result, static_cast<int>(from)).wait();
    return result;
  });
}

/// Keeps the tensor until it has arrived. No neighbour is `2 * stages` messages behind, so waiting
/// for the oldest message takes no time and frees its memory.
void Pipeline::send(steps::Communicator& channel, const torch::Tensor& tensor, std::int64_t to) {
  for (; std::ssize(sends_) > 2 * grid_.stages(); sends_.pop_front())
    sends_.front().wait();
  sends_.push_back(channel.send(tensor.detach().contiguous(), static_cast<int>(to)));
}

}  // namespace bench::transformer
