#include "harness/communicator.hpp"

#include "harness/errors.hpp"
#include "harness/program.hpp"
#include "harness/ranks.hpp"
#include "harness/torch_all.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#if defined(BENCH_STEPS_GLOO) || defined(BENCH_STEPS_NCCL)
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#ifdef BENCH_STEPS_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif
#ifdef BENCH_STEPS_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif
#endif

namespace bench::steps {
#if defined(BENCH_STEPS_GLOO) || defined(BENCH_STEPS_NCCL)
namespace {

using Store = c10::intrusive_ptr<c10d::Store>;

/// What an answer may take where the question was not too late.
constexpr std::chrono::seconds until_answered(5);

std::vector<std::uint8_t> bytes_of_text(const std::string& text) {
  return {text.begin(), text.end()};
}

std::string text_of(const std::vector<std::uint8_t>& bytes) {
  return {bytes.begin(), bytes.end()};
}

std::string name_of(int rank) {
  return fmt::format("rank/{}", rank);
}

std::string failure_of(int rank) {
  return fmt::format("failure/{}", rank);
}

/// What the first line is in which two texts differ, of `theirs` and of `ours`.
std::pair<std::string, std::string> first_difference(const std::string& theirs,
                                                     const std::string& ours) {
  std::istringstream theirs_in(theirs);
  std::istringstream ours_in(ours);
  std::string their_line;
  std::string our_line;
  do {
    their_line.clear();
    our_line.clear();
    std::getline(theirs_in, their_line);
    std::getline(ours_in, our_line);
  } while (their_line == our_line && (theirs_in || ours_in));
  return {their_line, our_line};
}

/// What all ranks told, one line each; or, after `missing`, the numbers of those that did not come;
/// or, after `differs`, which of them has not the same lines in common.
std::string gather_peers(const Store& store, int size, const std::string& in_common,
                         std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::string lines;
  std::string differs;
  for (int rank = 0; rank < size; ++rank) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    try {
      // Nought would mean without end.
      store->wait({name_of(rank)}, std::max(left, std::chrono::milliseconds(1)));
    } catch (const std::exception&) {
      std::string missing = "missing";
      for (; rank < size; ++rank)
        if (!store->check({name_of(rank)}))
          missing += fmt::format(" {}", rank);
      return missing;
    }
    const std::string told = text_of(store->get(name_of(rank)));
    const std::size_t end = told.find('\n') + 1;
    lines += told.substr(0, end);
    if (const std::string theirs = told.substr(end); theirs != in_common && differs.empty()) {
      const auto [their_line, our_line] = first_difference(theirs, in_common);
      differs = fmt::format("differs rank {} was started with {}, rank 0 with {}", rank, their_line,
                            our_line);
    }
  }
  return differs.empty() ? lines : differs;
}

/// Tells rank 0 of this rank, and takes from it the list of all. One list instead of everybody
/// asking for everybody keeps the number of messages linear. What is not a list begins with
/// `missing` or `differs`, or is `twice`.
std::string exchange(const Store& store, const Ranks& ranks, const Peer& self,
                     const std::string& in_common, std::chrono::milliseconds patience) {
  // The first question is one with a timeout: another service at this port may never answer.
  if (ranks.rank == 0)
    store->set("open", bytes_of_text("yes"));
  store->wait({"open"}, patience);
  if (store->add(fmt::format("count/{}", ranks.rank), 1) > 1)
    return "twice";
  store->set(name_of(self.rank), bytes_of_text(to_line(self) + "\n" + in_common));
  if (ranks.rank != 0) {
    store->wait({"list"}, patience + until_answered);
    return text_of(store->get("list"));
  }
  std::string list = gather_peers(store, ranks.size, in_common, patience);
  store->set("list", bytes_of_text(list));
  if (list.starts_with("missing") ||
      list.starts_with("differs"))  // the others read why before the store ends with this rank
    std::this_thread::sleep_for(std::chrono::seconds(1));
  return list;
}

std::string in_seconds(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000);
}

/// From 2.4 on LibTorch asks for libuv unless told otherwise, and one that was built without it, as
/// Debian 13's, refuses then. What listens without it is understood by all of them.
template <class Options>
void ask_for_no_libuv(Options& options) {
  if constexpr (requires { options.useLibUV; })
    options.useLibUV = false;
}

/// In LibTorch 2.6, not in 1.13, a store asks a question while it connects, and waits without end
/// for another service at this port to answer.
/// @throws std::exception if it cannot connect, or hears nothing in time
c10::intrusive_ptr<c10d::TCPStore> connect(const std::string& address,
                                           const c10d::TCPStoreOptions& options) {
  std::packaged_task<c10::intrusive_ptr<c10d::TCPStore>()> connecting(
      [address, options] { return c10::make_intrusive<c10d::TCPStore>(address, options); });
  auto connected = connecting.get_future();
  std::thread(std::move(connecting)).detach();
  if (connected.wait_for(options.timeout + until_answered) == std::future_status::timeout)
    throw std::runtime_error("what listens there does not answer");
  return connected.get();
}

/// Where ranks leave notes for each other: rank 0 holds it, and the others find it there.
/// @throws UsageError if rank 0 cannot listen at its port
/// @throws CommunicationError if another rank does not reach it in time
Store open_store(const Ranks& ranks, std::chrono::milliseconds patience) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(ranks.master_port);
  options.isServer = ranks.rank == 0 && !ranks.store_is_served;
  options.waitWorkers = false;  // strangers who come to this port would be counted
  options.timeout = patience;
  ask_for_no_libuv(options);
  try {
    return c10::make_intrusive<c10d::PrefixStore>(ranks.program,
                                                  connect(ranks.master_address, options));
  } catch (const std::exception& error) {
    if (options.isServer)
      throw UsageError(
          fmt::format("rank 0 cannot listen on port {}: {}", options.port, first_line(error)),
          "another program may have it: set MASTER_PORT to a free port");
    throw CommunicationError(fmt::format(
        "rank {} did not reach rank 0 at {}:{} within {}: {}; see whether rank 0 has "
        "started, and whether that name means its node",
        ranks.rank, ranks.master_address, options.port, in_seconds(patience), first_line(error)));
  }
}

/// Introduces this rank to all others.
/// @param in_common lines that must be the same on all ranks
/// @returns all ranks, in their order
/// @throws CommunicationError naming those that did not come in time
/// @throws UsageError if a rank is there twice, or has other lines than rank 0
std::vector<Peer> meet(const Store& store, const Ranks& ranks, const Peer& self,
                       const std::string& in_common, std::chrono::milliseconds patience) {
  std::string list;
  try {
    list = exchange(store, ranks, self, in_common, patience);
  } catch (const std::exception& error) {
    throw CommunicationError(
        fmt::format("rank {} lost rank 0 while the ranks met: {}", ranks.rank, first_line(error)));
  }
  if (list == "twice")
    throw UsageError(fmt::format("rank {} is there twice at {}:{}", ranks.rank,
                                 ranks.master_address, ranks.master_port),
                     "two programs may meet at one port: set MASTER_PORT to another for one");
  if (list.starts_with("missing"))
    throw CommunicationError(
        fmt::format("of {} ranks these did not come within {}:{}; see what "
                    "they wrote, and whether all were started",
                    ranks.size, in_seconds(patience), list.substr(7)));
  if (list.starts_with("differs"))
    throw UsageError(
        list.substr(std::string_view("differs ").size()),
        "give all ranks the same options, but for those of devices, threads and files");
  return parse_peers(list);
}

/// Leaves a note of why this rank ends.
void tell_failure(const Store& store, int rank, const std::string& reason) noexcept {
  try {
    store->set(failure_of(rank), bytes_of_text(reason));
  } catch (const std::exception&) {
    return;  // rank 0 is gone too, and nobody is there to hear it
  }
}

/// Such notes of these ranks, `; rank N failed: REASON` each, as far as rank 0 is there to ask.
std::string told_failures(const Store& store, const std::vector<Peer>& peers) {
  std::string all;
  try {
    for (const Peer& peer : peers)
      if (store->check({failure_of(peer.rank)}))
        all += fmt::format("; rank {} failed: {}", peer.rank,
                           text_of(store->get(failure_of(peer.rank))));
  } catch (const std::exception&) {
    return all;
  }
  return all;
}

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

#else
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

#endif
}  // namespace bench::steps
