#pragma once

#include "harness/ranks.hpp"
#include "harness/torch_all.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench::steps {

/// Another rank could not be reached, ended or took too long. The message says which, and what to
/// look at.
class CommunicationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How long a rank waits before it gives up.
struct CommunicatorTimeouts {
  std::chrono::milliseconds start = std::chrono::minutes(2);      ///< For all ranks to meet.
  std::chrono::milliseconds operation = std::chrono::minutes(2);  ///< For each later operation.
  std::chrono::milliseconds phase = std::chrono::hours(1);        ///< For `meet_again`.
};

/// An operation under way. The tensors it works on must not be touched before `wait` returned.
class [[nodiscard]] Pending {
 public:
  Pending() = default;  ///< Of an operation that is done.
  explicit Pending(std::function<void()> wait) : wait_(std::move(wait)) {}

  /// Returns when it is done. On a GPU the current stream waits and the host does not.
  /// @throws CommunicationError
  void wait() {
    if (const auto wait = std::exchange(wait_, nullptr))
      wait();
  }

 private:
  std::function<void()> wait_;
};

/// Ranks that work together, over Gloo on CPUs and NCCL on GPUs.
///
/// All ranks must call the same operations in the same order with tensors of the same shape and
/// type. Tensors must be contiguous and on the communicator's device. One rank alone has neither
/// threads nor connections, and all operations return at once.
///
/// Every wait is bounded, and when a rank ends the others fail within seconds, each with a
/// CommunicationError that names the ranks that are gone; except under NCCL, whose watchdog ends
/// the process instead (after `operation` at the latest, with its own message).
class Communicator {
 public:
  /// One rank alone.
  Communicator() = default;

  /// Meets the other ranks. From then on the program ignores SIGPIPE.
  /// @param in_common lines that must be the same on all of them: their options, for example
  /// @throws CommunicationError naming the ranks that did not come in time
  /// @throws UsageError if rank 0 cannot listen at its port, or LibTorch was built without what
  ///         several ranks need on this device; on all ranks if one has other lines in common
  Communicator(const Ranks& ranks, const torch::Device& device,
               const CommunicatorTimeouts& timeouts = {}, const std::string& in_common = "");

  int rank() const;
  int size() const;

  /// Sums the tensor over the ranks, in place. All ranks get the same bits. Gloo of LibTorch 1.13
  /// takes no bf16.
  Pending all_reduce(const torch::Tensor& tensor);

  /// Sums the tensor over the ranks, in place on the rank `root`. On the others it is undefined
  /// afterwards.
  Pending reduce(const torch::Tensor& tensor, int root);

  /// Overwrites each rank's part of a row with that of its owner: of N numbers, rank r owns the
  /// r-th of as many equal parts as there are ranks.
  /// @throws std::invalid_argument if N is not a multiple of the number of ranks
  void all_gather_in_place(const torch::Tensor& row);

  /// The tensors of all ranks, (size, ...) of (...). May share memory with `tensor` for one rank.
  torch::Tensor all_gather(const torch::Tensor& tensor);

  /// This rank's part of the sum over the ranks: (n / size, ...) of (n, ...), of which rank r gets
  /// the r-th part. Gloo has no such operation: there it is an all_reduce of a copy, and as slow.
  /// May share memory with `tensor` for one rank.
  /// @throws std::invalid_argument if n is not a multiple of the number of ranks
  torch::Tensor reduce_scatter(const torch::Tensor& tensor);

  /// Sends each rank its rows of a tensor (n, ...), and receives those of all ranks for this one,
  /// in the order of the ranks. May share memory with `rows` for one rank.
  /// @param sent rows to each rank: those to rank 0 come first, and so on; n in all
  /// @param received rows from each rank, the number that it sends here
  torch::Tensor all_to_all(const torch::Tensor& rows, std::vector<std::int64_t> sent,
                           std::vector<std::int64_t> received);

  /// Overwrites the tensor with that of the rank `root`.
  void broadcast(const torch::Tensor& tensor, int root = 0);

  /// Waits for all ranks; on a GPU the host waits as well.
  void barrier();

  /// Waits for all ranks where they may come at very different times, as behind the copying of a
  /// data set: for up to the timeout of a phase, while other operations have that of an operation.
  /// @throws CommunicationError, also within seconds of a rank's end
  void meet_again();

  /// Between two different ranks, in the order of the calls or, under Gloo, of the same tag. Both
  /// return at once: a rank may send before it receives. For one rank alone they do nothing.
  Pending send(const torch::Tensor& tensor, int to, int tag = 0);
  Pending receive(const torch::Tensor& tensor, int from, int tag = 0);

  /// Tells the other ranks why this one fails: their errors, which then miss it, name the reason,
  /// so that all know of a rank whose memory ran out. A CommunicationError is not told: another
  /// rank knows why.
  void tell(const std::exception& error) const noexcept;

  /// A communicator of the ranks that give the same color, numbered by key and then by their rank
  /// here. All ranks must call it. A rank whose color is negative gets itself alone.
  Communicator split(int color, int key);

 private:
  struct State;
  explicit Communicator(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;  ///< Empty for one rank alone.
};

}  // namespace bench::steps
