#include "llama/loss.hpp"

#include "harness/communicator.hpp"
#include "harness/log.hpp"
#include "llama/model.hpp"
#include "llama/options.hpp"
#include "transformer/vocab_parallel.hpp"

namespace bench::llama {

torch::Tensor training_loss(const Llama& model, const Options& options, const torch::Tensor& scores,
                            const torch::Tensor& tokens, const steps::Communicator& group) {
  torch::Tensor loss = transformer::next_token_loss(scores, tokens, group);
  const torch::Tensor balance = model->balance_loss();
  if (!balance.defined())
    return loss;
  const torch::Tensor extra = options.balance_weight / group.size() * balance;
  return loss + (extra - extra.detach());  // adds to the gradient alone
}

void log_expert_loads(const Llama& model, steps::Communicator& ranks) {
  const torch::Tensor balance = model->balance_loss();
  if (!balance.defined())
    return;
  const torch::Tensor loads = model->expert_loads();  // (layers, experts)
  ranks.all_reduce(loads).wait();
  const torch::Tensor relative = loads.to(torch::kFloat) / loads.to(torch::kFloat).mean(1, true);
  steps::log_value("expert_load_max", relative.amax(1).mean().item<double>());
  steps::log_value("expert_load_min", relative.amin(1).mean().item<double>());
  const torch::Tensor sum = balance.detach().clone();
  ranks.all_reduce(sum).wait();
  steps::log_value("balance_loss", sum.item<double>() / ranks.size());
}

}  // namespace bench::llama
