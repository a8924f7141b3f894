#include "harness/communicator.hpp"
#include "harness/program.hpp"

#if !defined(BENCH_STEPS_GLOO) && !defined(BENCH_STEPS_NCCL)

namespace bench::steps {

// LibTorch was built without what connects ranks.

struct Communicator::State {};

Communicator::Communicator(const Ranks& ranks, const torch::Device&, const CommunicatorTimeouts&,
                           const std::string&) {
  if (ranks.size > 1)
    throw UsageError(
        "several ranks need a LibTorch with Gloo or NCCL, which this program was "
        "built without",
        "build it against another, with Gloo's headers (Debian: libgloo-dev) or "
        "nccl.h, or start one rank");
}

int Communicator::rank() const {
  return 0;
}

int Communicator::size() const {
  return 1;
}

Pending Communicator::all_reduce(const torch::Tensor&) {
  return Pending();
}

Pending Communicator::reduce(const torch::Tensor&, int) {
  return Pending();
}

void Communicator::all_gather_in_place(const torch::Tensor&) {}

torch::Tensor Communicator::all_gather(const torch::Tensor& tensor) {
  return tensor.unsqueeze(0);
}

torch::Tensor Communicator::reduce_scatter(const torch::Tensor& tensor) {
  return tensor;
}

torch::Tensor Communicator::all_to_all(const torch::Tensor& rows, std::vector<std::int64_t>,
                                       std::vector<std::int64_t>) {
  return rows;
}

void Communicator::broadcast(const torch::Tensor&, int) {}

void Communicator::barrier() {}

void Communicator::meet_again() {}

Pending Communicator::send(const torch::Tensor&, int, int) {
  return Pending();
}

Pending Communicator::receive(const torch::Tensor&, int, int) {
  return Pending();
}

void Communicator::tell(const std::exception&) const noexcept {}

Communicator Communicator::split(int, int) {
  return Communicator();
}

}  // namespace bench::steps

#endif
