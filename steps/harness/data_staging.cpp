#include "harness/data_staging.hpp"

#include "harness/communicator.hpp"
#include "harness/log.hpp"
#include "harness/mllog.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace bench::steps {

Staging stage_together(Communicator& ranks, const torch::Device& device,
                       const std::function<std::uint64_t()>& copy) {
  mllog("staging_start");
  const auto begin = std::chrono::steady_clock::now();
  const auto bytes = static_cast<double>(copy());
  const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - begin;
  ranks.meet_again();  // nodes may take very different times
  const torch::Tensor own = torch::tensor({duration.count(), bytes}, torch::kDouble);
  const torch::Tensor all = ranks.all_gather(own.to(device)).cpu();  // (ranks, 2)
  mllog("staging_stop");
  return {.seconds = all.select(1, 0).max().item<double>(),
          .bytes = static_cast<std::int64_t>(all.select(1, 1).sum().item<double>())};
}

void Staging::log(const std::string& folder) const {
  log_value("staged_folder", folder);
  log_value("staging_s", seconds);
  log_value("staged_bytes", bytes);
}

}  // namespace bench::steps
