#pragma once

#include "harness/communicator.hpp"
#include "harness/ranks.hpp"
#include "harness/torch_all.hpp"
#include "support/free_port.hpp"

#include <functional>
#include <future>
#include <vector>

namespace bench::steps {

/// Calls `work` as each of several ranks, in threads of this process.
/// @throws what `work` threw as the first rank that threw
inline void in_ranks(int size, const std::function<void(Communicator& ranks)>& work) {
  const support::FreePort port;
  std::vector<std::future<void>> ends;
  for (int rank = 0; rank < size; ++rank)
    ends.push_back(std::async(std::launch::async, [&, rank] {
      Communicator ranks({.rank = rank,
                          .size = size,
                          .local_rank = rank,
                          .local_size = size,
                          .launcher = "test",
                          .master_address = "127.0.0.1",
                          .master_port = port.number(),
                          .program = "in_ranks"},
                         torch::kCPU);
      work(ranks);
    }));
  for (std::future<void>& end : ends)
    end.wait();
  for (std::future<void>& end : ends)
    end.get();
}

}  // namespace bench::steps
