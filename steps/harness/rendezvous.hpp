#pragma once

#include "harness/peers.hpp"
#include "harness/ranks.hpp"
#include "harness/torch_all.hpp"

#if defined(BENCH_STEPS_GLOO) || defined(BENCH_STEPS_NCCL)

#include <chrono>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace bench::steps {

using Store = c10::intrusive_ptr<c10d::Store>;

/// Where ranks leave notes for each other: rank 0 holds it, and the others find it there.
/// @throws UsageError if rank 0 cannot listen at its port
/// @throws CommunicationError if another rank does not reach it in time
Store open_store(const Ranks& ranks, std::chrono::milliseconds patience);

/// Introduces this rank to all others.
/// @param in_common lines that must be the same on all ranks
/// @returns all ranks, in their order
/// @throws CommunicationError naming those that did not come in time
/// @throws UsageError if a rank is there twice, or has other lines than rank 0
std::vector<Peer> meet(const Store& store, const Ranks& ranks, const Peer& self,
                       const std::string& in_common, std::chrono::milliseconds patience);

/// Leaves a note of why this rank ends.
void tell_failure(const Store& store, int rank, const std::string& reason) noexcept;

/// Such notes of these ranks, `; rank N failed: REASON` each, as far as rank 0 is there to ask.
std::string told_failures(const Store& store, const std::vector<Peer>& peers);

}  // namespace bench::steps

#endif
