#include "vision/recorder.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace bench::vision {
namespace {

/// @param column (N), on any device
std::vector<double> on_host(const torch::Tensor& column) {
  const torch::Tensor values = column.to(torch::kCPU, torch::kDouble).contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

/// @param values of this rank, one for each step
torch::Tensor mean_over(steps::Communicator& ranks, const std::vector<torch::Tensor>& values) {
  torch::Tensor all = torch::stack(values);
  ranks.all_reduce(all).wait();
  return all.div_(ranks.size());
}

}  // namespace

std::optional<std::int64_t> History::diverged_at() const {
  const auto lost =
      std::ranges::find_if_not(losses, [](double loss) { return std::isfinite(loss); });
  if (lost == losses.end())
    return std::nullopt;
  return lost - losses.begin() + 1;
}

void Recorder::record(const torch::Tensor& loss, const torch::Tensor& scores,
                      const torch::Tensor& labels) {
  losses_.push_back(loss.detach());
  if (!accuracy_)
    return;
  const std::int64_t best = std::min<std::int64_t>(5, scores.size(1));
  const torch::Tensor hits =
      std::get<1>(scores.detach().topk(best, 1)).eq(labels.unsqueeze(1));  // (B, best)
  const torch::Tensor counts = torch::stack({hits.select(1, 0).sum(), hits.sum()});
  percents_.push_back(counts * (100.0 / static_cast<double>(scores.size(0))));
}

std::vector<torch::Tensor> Recorder::newest_percents() const {
  return percents_.empty() ? std::vector<torch::Tensor>() : percents_.back().unbind();
}

History Recorder::read(steps::Communicator& ranks) const {
  History history{.losses = on_host(mean_over(ranks, losses_))};
  if (!percents_.empty()) {
    const torch::Tensor percents = mean_over(ranks, percents_);  // (N, 2)
    history.top1_percent = on_host(percents.select(1, 0));
    history.top5_percent = on_host(percents.select(1, 1));
  }
  return history;
}

}  // namespace bench::vision
