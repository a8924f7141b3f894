#include "harness/latency.hpp"

#include "harness/device.hpp"
#include "harness/log.hpp"
#include "harness/quantile.hpp"
#include "harness/session.hpp"
#include "harness/statistics.hpp"

#include <string>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {

torch::Tensor of_all_ranks(Session& session, const std::vector<double>& samples) {
  const torch::Tensor own = torch::tensor(samples, torch::kDouble).to(session.device());
  return session.ranks().all_gather(own).to(torch::kCPU);
}

void log_latency(const std::string& name, const torch::Tensor& samples_s) {
  const std::vector<double> samples = numbers_of(samples_s.flatten());
  const Statistics s = statistics(samples);
  log_value(name + "_min_s", s.min);
  log_value(name + "_mean_s", s.mean);
  for (const int percent : {50, 95, 99})
    log_value(fmt::format("{}_p{}_s", name, percent), quantile(samples, percent / 100.0));
  log_value(name + "_max_s", s.max);
}

}  // namespace bench::steps
