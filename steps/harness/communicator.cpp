#include "harness/communicator.hpp"

#include "harness/network.hpp"
#include "harness/peers.hpp"
#include "harness/program.hpp"
#include "harness/ranks.hpp"
#include "harness/rendezvous.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

// This file and rendezvous.cpp name types of c10d; communicator_alone.cpp stands in for both where
// LibTorch has none.
#if defined(BENCH_STEPS_GLOO) || defined(BENCH_STEPS_NCCL)
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#ifdef BENCH_STEPS_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif
#ifdef BENCH_STEPS_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

namespace bench::steps {
namespace {

#if BENCH_TORCH_AT_LEAST(2, 0)
using Backend = c10d::Backend;
#else
using Backend = c10d::ProcessGroup;
#endif
using Tensors = std::vector<torch::Tensor>;

#ifdef BENCH_STEPS_GLOO
c10::intrusive_ptr<Backend> make_gloo(const Store& store, int rank, int size,
                                      const std::string& address,
                                      std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(address));
  options->threads = 1;  // one works while the program computes; more would take its cores
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, size, options);
}
#endif

#ifdef BENCH_STEPS_NCCL
c10::intrusive_ptr<Backend> make_nccl(const Store& store, int rank, int size,
                                      std::chrono::milliseconds timeout) {
  // Without it LibTorch before 2.2 waits for ever for a rank that died. The name changed in 2.2.
  ::setenv("NCCL_ASYNC_ERROR_HANDLING", "1", 0);
  ::setenv("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1", 0);
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size, options);
}
#endif

/// How often rank 0 looks at a long wait whether all ranks are still there.
constexpr std::chrono::seconds gone_check_interval(2);

/// Whether a backend gathers into one row, and scatters one, instead of lists of tensors. Gloo's of
/// LibTorch 1.13 does not.
bool has_whole_rows(const torch::Device& device) {
  return device.is_cuda() || BENCH_TORCH_AT_LEAST(2, 6);
}

/// A tensor's memory as bytes, (b): what is only moved needs no type that the backend knows.
torch::Tensor as_bytes(const torch::Tensor& tensor) {
  return tensor.detach().view({-1}).view(torch::kByte);
}

}  // namespace

struct Communicator::State {
  int rank = 0;
  int size = 1;
  torch::Device device = torch::kCPU;
  CommunicatorTimeouts timeouts;
  std::vector<Peer> peers;  ///< In the order of their ranks in this communicator.
  Store failures;           ///< Of the whole program.
  Store store;
  c10::intrusive_ptr<Backend> backend;
  int splits = 0;
  int meetings = 0;
  // Last, so that it goes first: whose connections break finds the beacon of this rank gone.
  std::shared_ptr<Beacon> beacon;

  void connect() {
#ifdef BENCH_STEPS_NCCL
    if (device.is_cuda()) {
      backend = make_nccl(store, rank, size, timeouts.operation);
      return;
    }
#endif
#ifdef BENCH_STEPS_GLOO
    if (device.is_cpu())
      backend = make_gloo(store, rank, size, peers[static_cast<std::size_t>(rank)].address,
                          timeouts.operation);
#endif
  }

  /// A rank's number in the whole program, which messages name.
  int number_of(int member) const {
    if (member < 0 || member >= size)
      throw std::invalid_argument(fmt::format("no rank {} among {}", member, size));
    return peers[static_cast<std::size_t>(member)].rank;
  }

  /// Runs one of the library's calls, of which `what` is the name.
  template <typename Call>
  auto guarded(const std::string& what, const Call& call) const {
    try {
      return call();
    } catch (const std::exception& error) {
      const std::string losses = describe_losses(peers);  // first: it gives them time to tell
      throw CommunicationError(fmt::format("{} of rank {} failed ({}); {}{}", what, number_of(rank),
                                           first_line(error), losses,
                                           told_failures(failures, peers)));
    }
  }

  /// Returns when all ranks have come to this meeting. Polls, since a wait of the store that runs
  /// out cannot be told from one that failed; rank 0 looks for ranks that ended, and the others
  /// notice when the store ends with it.
  void await_all(const std::string& meeting) const {
    using std::chrono::steady_clock;
    const auto begin = steady_clock::now();
    const auto deadline = begin + timeouts.phase;
    auto next_look = begin + gone_check_interval;
    for (store->add(meeting, 1); store->add(meeting, 0) < size;) {
      const auto now = steady_clock::now();
      if (now > deadline)
        throw std::runtime_error("timed out");
      if (rank == 0 && now > next_look) {
        if (!list_gone(peers).empty())
          throw std::runtime_error("a rank has ended");
        next_look = now + gone_check_interval;
      }
      std::this_thread::sleep_for(std::clamp<steady_clock::duration>(
          (now - begin) / 16, std::chrono::milliseconds(2), std::chrono::milliseconds(500)));
    }
  }

  static Pending start(const std::shared_ptr<State>& state, const std::string& what,
                       const std::function<c10::intrusive_ptr<c10d::Work>(Backend&)>& call) {
    auto work = state->guarded(what, [&] { return call(*state->backend); });
    return Pending([state, what, work] { state->guarded(what, [&] { work->wait(); }); });
  }

  void check(const torch::Tensor& tensor) const {
    if (!tensor.is_contiguous() || tensor.device().type() != device.type())
      throw std::invalid_argument(fmt::format(
          "a communicator on {} takes contiguous tensors that are there", device.str()));
  }
};

Communicator::Communicator(const Ranks& ranks, const torch::Device& device,
                           const CommunicatorTimeouts& timeouts, const std::string& in_common) {
  if (ranks.size == 1)
    return;
#ifndef BENCH_STEPS_GLOO
  if (device.is_cpu())
    throw UsageError("several ranks on CPUs need Gloo, which this program was built without",
                     "build it against a LibTorch with Gloo, where Gloo's headers are found");
#endif
#ifndef BENCH_STEPS_NCCL
  if (device.is_cuda())
    throw UsageError("several ranks on GPUs need NCCL, which this program was built without",
                     "use --device cpu, or build it against a LibTorch with NCCL, where nccl.h is "
                     "found");
#endif
  // Gloo writes to ranks that may have ended: an error here, and not the end of the program.
  std::signal(SIGPIPE, SIG_IGN);
  const std::string address = own_address(ranks);
  auto state = std::make_shared<State>();
  state->rank = ranks.rank;
  state->size = ranks.size;
  state->device = device;
  state->timeouts = timeouts;
  state->beacon = std::make_shared<Beacon>(address);
  state->store = open_store(ranks, timeouts.start);
  state->peers = meet(state->store, ranks, introduce(ranks.rank, address, state->beacon->port()),
                      in_common, timeouts.start);
  state->store->setTimeout(timeouts.operation);
  state->failures = state->store;
  state->guarded("the first connection", [&] { state->connect(); });
  state_ = std::move(state);
}

int Communicator::rank() const {
  return state_ ? state_->rank : 0;
}

int Communicator::size() const {
  return state_ ? state_->size : 1;
}

Pending Communicator::all_reduce(const torch::Tensor& tensor) {
  if (!state_ || tensor.numel() == 0)
    return Pending();
  state_->check(tensor);
  return State::start(state_, "all_reduce", [&](Backend& backend) {
    Tensors tensors{tensor.detach()};
    return backend.allreduce(tensors);
  });
}

Pending Communicator::reduce(const torch::Tensor& tensor, int root) {
  if (!state_ || tensor.numel() == 0)
    return Pending();
  state_->check(tensor);
  return State::start(state_, "reduce", [&](Backend& backend) {
    Tensors tensors{tensor.detach()};
    c10d::ReduceOptions options;
    options.rootRank = root;
    return backend.reduce(tensors, options);
  });
}

void Communicator::all_gather_in_place(const torch::Tensor& row) {
  if (!state_ || row.numel() == 0)
    return;
  state_->check(row);
  if (row.dim() != 1 || row.numel() % size() != 0)
    throw std::invalid_argument("all_gather_in_place of a row without an equal part for each rank");
  const torch::Tensor bytes = as_bytes(row);
  const torch::Tensor parts = bytes.view({size(), -1});
  if (has_whole_rows(state_->device)) {
    State::start(state_, "all_gather", [&](Backend& backend) {
      torch::Tensor output = bytes;
      torch::Tensor input = parts[rank()];
      return backend._allgather_base(output, input);
    }).wait();
    return;
  }
  State::start(state_, "all_gather", [&](Backend& backend) {
    Tensors inputs{parts[rank()].clone()};
    std::vector<Tensors> outputs{parts.unbind()};
    return backend.allgather(outputs, inputs);
  }).wait();
}

torch::Tensor Communicator::all_gather(const torch::Tensor& tensor) {
  if (!state_)
    return tensor.unsqueeze(0);
  state_->check(tensor);
  std::vector<std::int64_t> shape = tensor.sizes().vec();
  shape.insert(shape.begin(), size());
  const torch::Tensor result = torch::empty(shape, tensor.options().requires_grad(false));
  if (tensor.numel() > 0)
    State::start(state_, "all_gather", [&](Backend& backend) {
      Tensors inputs{as_bytes(tensor)};
      std::vector<Tensors> outputs{as_bytes(result).view({size(), -1}).unbind()};
      return backend.allgather(outputs, inputs);
    }).wait();
  return result;
}

torch::Tensor Communicator::reduce_scatter(const torch::Tensor& tensor) {
  if (!state_)
    return tensor;
  state_->check(tensor);
  if (tensor.dim() == 0 || tensor.size(0) % size() != 0)
    throw std::invalid_argument("reduce_scatter of what cannot be cut into one part for each rank");
  const std::int64_t rows = tensor.size(0) / size();
  if (has_whole_rows(state_->device)) {
    torch::Tensor input = tensor.detach();
    torch::Tensor part = torch::empty_like(input.narrow(0, 0, rows));
    if (part.numel() > 0)
      State::start(state_, "reduce_scatter", [&](Backend& backend) {
        return backend._reduce_scatter_base(part, input);
      }).wait();
    return part;
  }
  const torch::Tensor sum = tensor.detach().clone();
  all_reduce(sum).wait();
  return sum.narrow(0, rank() * rows, rows).clone();
}

torch::Tensor Communicator::all_to_all(const torch::Tensor& rows, std::vector<std::int64_t> sent,
                                       std::vector<std::int64_t> received) {
  if (!state_)
    return rows;
  state_->check(rows);
  std::vector<std::int64_t> shape = rows.sizes().vec();
  shape.at(0) = std::reduce(received.begin(), received.end());
  const torch::Tensor result = torch::empty(shape, rows.options().requires_grad(false));
  const std::int64_t row_bytes =
      std::accumulate(shape.begin() + 1, shape.end(), static_cast<std::int64_t>(rows.itemsize()),
                      std::multiplies<>());
  State::start(state_, "all_to_all", [&](Backend& backend) {
    torch::Tensor output = as_bytes(result).view({result.size(0), row_bytes});
    torch::Tensor input = as_bytes(rows).view({rows.size(0), row_bytes});
    return backend.alltoall_base(output, input, received, sent);
  }).wait();
  return result;
}

void Communicator::broadcast(const torch::Tensor& tensor, int root) {
  if (!state_ || tensor.numel() == 0)
    return;
  state_->check(tensor);
  State::start(state_, "broadcast", [&](Backend& backend) {
    Tensors tensors{as_bytes(tensor)};
    c10d::BroadcastOptions options;
    options.rootRank = root;
    return backend.broadcast(tensors, options);
  }).wait();
}

void Communicator::barrier() {
  if (!state_)
    return;
  // NCCL has no barrier, and LibTorch's emulation guesses the device.
  const torch::Tensor token = torch::ones({1}, state_->device);
  all_reduce(token).wait();
  token.item<float>();  // the host waits for the GPU
}

void Communicator::meet_again() {
  if (!state_)
    return;
  const std::string meeting = fmt::format("meeting/{}", state_->meetings++);
  state_->guarded("the meeting", [&] { state_->await_all(meeting); });
}

Pending Communicator::send(const torch::Tensor& tensor, int to, int tag) {
  if (!state_ || tensor.numel() == 0)
    return Pending();
  state_->check(tensor);
  return State::start(state_, fmt::format("send to rank {}", state_->number_of(to)),
                      [&](Backend& backend) {
                        Tensors tensors{as_bytes(tensor)};
                        return backend.send(tensors, to, tag);
                      });
}

Pending Communicator::receive(const torch::Tensor& tensor, int from, int tag) {
  if (!state_ || tensor.numel() == 0)
    return Pending();
  state_->check(tensor);
  return State::start(state_, fmt::format("receive from rank {}", state_->number_of(from)),
                      [&](Backend& backend) {
                        Tensors tensors{as_bytes(tensor)};
                        return backend.recv(tensors, from, tag);
                      });
}

void Communicator::tell(const std::exception& error) const noexcept {
  if (!state_ || dynamic_cast<const CommunicationError*>(&error))
    return;
  tell_failure(state_->failures, state_->number_of(state_->rank), first_line(error));
}

Communicator Communicator::split(int color, int key) {
  if (!state_)
    return Communicator();
  const int number = state_->splits++;
  const torch::Tensor wishes =
      all_gather(torch::tensor({color, key}, torch::kInt).to(state_->device)).to(torch::kCPU);
  const auto wish = wishes.accessor<int, 2>();
  std::vector<std::pair<int, int>> members;  // key and rank
  for (int rank = 0; rank < size(); ++rank)
    if (wish[rank][0] == color)
      members.emplace_back(wish[rank][1], rank);
  if (color < 0 || members.size() == 1)
    return Communicator();
  std::sort(members.begin(), members.end());
  auto state = std::make_shared<State>(*state_);
  state->splits = 0;
  state->meetings = 0;
  state->peers.clear();
  for (const auto& [unused, rank] : members) {
    if (rank == state_->rank)
      state->rank = static_cast<int>(state->peers.size());
    state->peers.push_back(state_->peers[static_cast<std::size_t>(rank)]);
  }
  state->size = static_cast<int>(members.size());
  state->store =
      c10::make_intrusive<c10d::PrefixStore>(fmt::format("{}-{}", number, color), state_->store);
  state->guarded("the split", [&] { state->connect(); });
  return Communicator(std::move(state));
}

}  // namespace bench::steps

#endif
