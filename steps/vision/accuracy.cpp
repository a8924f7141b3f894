#include "vision/accuracy.hpp"

#include "harness/trainer.hpp"

#include <algorithm>
#include <cstdint>

namespace bench::vision {

torch::Tensor accuracy_percents(const torch::Tensor& scores, const torch::Tensor& labels) {
  const std::int64_t best = std::min<std::int64_t>(5, scores.size(1));
  const torch::Tensor hits =
      std::get<1>(scores.detach().topk(best, 1)).eq(labels.unsqueeze(1));  // (B, best)
  const torch::Tensor counts = torch::stack({hits.select(1, 0).sum(), hits.sum()});
  return counts * (100.0 / static_cast<double>(scores.size(0)));
}

void MeanAccuracy::add(const torch::Tensor& scores, const torch::Tensor& labels) {
  const torch::Tensor own = accuracy_percents(scores, labels);
  percents_ = count_++ == 0 ? own : percents_ + own;
}

void MeanAccuracy::observe(steps::Trainer& trainer) const {
  if (count_ == 0)
    return;
  for (const torch::Tensor& percent : (percents_ / count_).unbind())
    trainer.observe(percent);
}

}  // namespace bench::vision
