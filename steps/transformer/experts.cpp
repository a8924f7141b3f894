#include "transformer/experts.hpp"

#include "transformer/expert_exchange.hpp"
#include "transformer/swiglu.hpp"
#include "transformer/weight_init.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench::transformer {

ExpertsImpl::ExpertsImpl(const WeightInit& init, std::uint64_t number, std::int64_t count,
                         std::int64_t per_token, std::int64_t hidden, std::int64_t width,
                         double deviation, double down_deviation)
    : ranks_(init.group),
      per_token_(per_token),
      router_(register_parameter("router", init.whole(number, count, hidden, deviation))),
      loads_(torch::zeros({count}, init.tensors.dtype(torch::kLong))) {
  WeightInit whole = init;  // an expert is not split
  whole.group = {};
  const std::int64_t own = count / ranks_.size();
  for (std::int64_t i = own * ranks_.rank(); i < own * (ranks_.rank() + 1); ++i)
    experts_.push_back(register_module("expert" + std::to_string(i),
                                       SwiGlu(whole, number + 1 + 2 * static_cast<std::uint64_t>(i),
                                              hidden, width, deviation, down_deviation)));
}

torch::Tensor ExpertsImpl::forward(const torch::Tensor& x) {
  const torch::Tensor tokens = x.reshape({-1, x.size(2)});                        // (N, hidden)
  const torch::Tensor scores = torch::linear(tokens, router_).to(torch::kFloat);  // (N, count)
  const auto [highest, chosen] = scores.topk(per_token_, 1);                      // (N, per token)
  const torch::Tensor weights = torch::softmax(highest, 1).to(x.scalar_type());

  // Each expert has its tokens side by side, also if they are none: so all weights have a gradient.
  const auto [expert, order] = chosen.flatten().sort(/*stable=*/true, 0, /*descending=*/false);
  const torch::Tensor counts =
      expert.unsqueeze(1).eq(torch::arange(router_.size(0), expert.options())).sum(0);
  ExpertExchange exchange(counts, ranks_);
  std::vector<torch::Tensor> results =
      exchange.to_experts(tokens.index_select(0, order.div(per_token_, "floor")));
  for (std::size_t i = 0; i < experts_.size(); ++i)
    results[i] = experts_[i]->forward(results[i].unsqueeze(0)).squeeze(0);
  const torch::Tensor by_token = exchange.to_rows(results)
                                     .index_select(0, order.argsort())
                                     .view({tokens.size(0), per_token_, tokens.size(1)});
  if (is_training()) {
    const torch::Tensor shares = exchange.counts() / exchange.counts().sum();
    balance_loss_ = (shares * torch::softmax(scores, 1).mean(0)).sum() * router_.size(0);
    loads_.add_(counts);
  }
  return (by_token * weights.unsqueeze(2)).sum(1).view(x.sizes());
}

}  // namespace bench::transformer
