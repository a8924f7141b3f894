#include "transformer/experts.hpp"

#include "harness/communicator.hpp"
#include "transformer/layers.hpp"
#include "transformer/tensor_parallel.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace bench::transformer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Counts = std::vector<std::int64_t>;

Counts numbers_in(const torch::Tensor& counts) {
  const torch::Tensor row = counts.contiguous();
  return {row.data_ptr<std::int64_t>(), row.data_ptr<std::int64_t>() + row.numel()};
}

class AllToAll : public torch::autograd::Function<AllToAll> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& rows,
                               const Counts& sent, const Counts& received,
                               steps::Communicator ranks) {
    context->saved_data["sent"] = sent;
    context->saved_data["received"] = received;
    const torch::Tensor result = ranks.all_to_all(rows.contiguous(), sent, received);
    save_value(context, "ranks", std::move(ranks));
    return result;
  }

  // What was received goes back.
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const torch::Tensor d_rows =
        saved_value<steps::Communicator>(context, "ranks")
            .all_to_all(gradients[0].contiguous(), context->saved_data["received"].toIntVector(),
                        context->saved_data["sent"].toIntVector());
    return {d_rows, {}, {}, {}};
  }
};

}  // namespace

ExpertExchange::ExpertExchange(const torch::Tensor& counts, const TensorRanks& ranks)
    : ranks_(ranks),
      all_counts_(ranks.have_all_tokens ? counts.unsqueeze(0) : ranks_.all_gather(counts)) {
  const std::int64_t senders = all_counts_.size(0);
  const torch::Tensor by_owner =  // (senders, T, E/T)
      all_counts_.to(torch::kCPU).view({senders, ranks.size(), -1});
  const torch::Tensor own = by_owner.select(1, ranks.rank());  // (senders, E/T)
  sent_ = numbers_in(by_owner[ranks.have_all_tokens ? 0 : ranks.rank()].sum(1));
  received_ = numbers_in(own.sum(1));
  of_expert_ = numbers_in(own.sum(0));
  before_ = std::accumulate(sent_.begin(), sent_.begin() + ranks.rank(), std::int64_t{0});
  if (senders > 1) {
    const torch::Tensor experts =  // of the received rows
        torch::arange(own.size(1)).repeat(senders).repeat_interleave(own.flatten());
    by_expert_ = std::get<1>(experts.sort(/*stable=*/true, 0, false)).to(counts.device());
  }
}

torch::Tensor ExpertExchange::counts() const {
  return all_counts_.sum(0);
}

std::vector<torch::Tensor> ExpertExchange::to_experts(const torch::Tensor& rows) {
  if (!by_expert_.defined())
    return rows.narrow(0, before_, received_[0]).split_with_sizes(of_expert_);
  return AllToAll::apply(rows, sent_, received_, ranks_)
      .index_select(0, by_expert_)
      .split_with_sizes(of_expert_);
}

torch::Tensor ExpertExchange::to_rows(const std::vector<torch::Tensor>& results) {
  const torch::Tensor own = torch::cat(results);
  if (by_expert_.defined())
    return AllToAll::apply(own.index_select(0, by_expert_.argsort()), received_, sent_, ranks_);
  if (ranks_.size() == 1)
    return own;
  const std::int64_t all = std::accumulate(sent_.begin(), sent_.end(), std::int64_t{0});
  const std::int64_t after = all - before_ - received_[0];
  return sum_of_ranks(torch::constant_pad_nd(own, {0, 0, before_, after}).unsqueeze(0), ranks_)
      .squeeze(0);
}

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
