#include "harness/running_statistics.hpp"

#include "harness/communicator.hpp"

#include <cstdint>
#include <vector>

namespace bench::steps {
namespace {

std::vector<torch::Tensor> running_statistics(const torch::nn::Module& model) {
  std::vector<torch::Tensor> statistics;
  for (const auto& buffer : model.named_buffers())
    if (buffer.key().ends_with("running_mean") || buffer.key().ends_with("running_var"))
      statistics.push_back(buffer.value());
  return statistics;
}

}  // namespace

void average_running_statistics(const torch::nn::Module& model, Communicator& ranks) {
  const std::vector<torch::Tensor> statistics = running_statistics(model);
  if (ranks.size() == 1 || statistics.empty())
    return;
  const torch::NoGradGuard no_gradient;
  const torch::Tensor row = torch::cat(statistics);  // one message instead of hundreds
  ranks.all_reduce(row).wait();
  row.div_(ranks.size());
  std::int64_t begin = 0;
  for (const torch::Tensor& statistic : statistics) {
    statistic.copy_(row.narrow(0, begin, statistic.numel()));
    begin += statistic.numel();
  }
}

}  // namespace bench::steps
