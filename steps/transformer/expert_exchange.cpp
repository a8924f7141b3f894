#include "transformer/expert_exchange.hpp"

#include "harness/communicator.hpp"
#include "transformer/autograd_value.hpp"
#include "transformer/tensor_parallel.hpp"

#include <cstddef>
#include <cstdint>
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
  pieces_ = numbers_in(own);
  received_ = numbers_in(own.sum(1));
  sent_ = numbers_in(by_owner[ranks.have_all_tokens ? 0 : ranks.rank()].sum(1));
  for (int rank = 0; rank < ranks.size(); ++rank)
    if (rank != ranks.rank())
      (rank < ranks.rank() ? before_ : after_) += sent_[static_cast<std::size_t>(rank)];
}

torch::Tensor ExpertExchange::counts() const {
  return all_counts_.sum(0);
}

std::vector<torch::Tensor> ExpertExchange::to_experts(const torch::Tensor& rows) {
  if (ranks_.size() == 1)
    return rows.split_with_sizes(pieces_);
  if (ranks_.have_all_tokens)
    return rows.narrow(0, before_, received_[0]).split_with_sizes(pieces_);
  const std::vector<torch::Tensor> pieces =  // sender by sender, and of each expert by expert
      AllToAll::apply(rows, sent_, received_, ranks_).split_with_sizes(pieces_);
  const std::size_t experts = pieces.size() / received_.size();
  std::vector<torch::Tensor> result;
  for (std::size_t expert = 0; expert < experts; ++expert) {
    std::vector<torch::Tensor> of_senders;
    for (std::size_t i = expert; i < pieces.size(); i += experts)
      of_senders.push_back(pieces[i]);
    result.push_back(torch::cat(of_senders));
  }
  return result;
}

torch::Tensor ExpertExchange::to_rows(const std::vector<torch::Tensor>& results) {
  if (ranks_.size() == 1)
    return torch::cat(results);
  if (ranks_.have_all_tokens) {
    const torch::Tensor own = torch::constant_pad_nd(torch::cat(results), {0, 0, before_, after_});
    return sum_of_ranks(own.unsqueeze(0), ranks_).squeeze(0);
  }
  const std::size_t experts = results.size();
  std::vector<torch::Tensor> pieces(pieces_.size());
  for (std::size_t expert = 0; expert < experts; ++expert) {
    Counts sizes;
    for (std::size_t i = expert; i < pieces_.size(); i += experts)
      sizes.push_back(pieces_[i]);
    const std::vector<torch::Tensor> of_senders = results[expert].split_with_sizes(sizes);
    for (std::size_t sender = 0; sender < of_senders.size(); ++sender)
      pieces[sender * experts + expert] = of_senders[sender];
  }
  return AllToAll::apply(torch::cat(pieces), received_, sent_, ranks_);
}

}  // namespace bench::transformer
