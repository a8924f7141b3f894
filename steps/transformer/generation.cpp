#include "transformer/generation.hpp"

#include "transformer/key_value_cache.hpp"
#include "transformer/language_model.hpp"
#include "transformer/tensor_ranks.hpp"
#include "transformer/vocab_parallel.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace bench::transformer {

Generation::Generation(std::shared_ptr<LanguageModel> model, KeyValueCache cache,
                       const TensorRanks& ranks)
    : model_(std::move(model)), cache_(std::move(cache)), ranks_(ranks) {
  model_->eval();
}

torch::Tensor Generation::next_tokens(const torch::Tensor& tokens) {
  const torch::NoGradGuard no_gradient;
  scores_ = model_->next_scores(tokens, cache_);
  return most_likely_tokens(scores_, ranks_);
}

torch::Tensor Generation::prefill(const torch::Tensor& prompts) {
  cache_.truncate(0);
  first_tokens_ = next_tokens(prompts);
  prompt_tokens_ = cache_.length();
  return first_tokens_.squeeze(1).to(torch::kCPU);
}

torch::Tensor Generation::decode(std::int64_t count, std::vector<double>& latencies_s) {
  using Clock = std::chrono::steady_clock;
  cache_.truncate(prompt_tokens_);
  torch::Tensor tokens = first_tokens_;
  std::vector<torch::Tensor> delivered;
  auto before = Clock::now();
  for (std::int64_t i = 0; i < count; ++i) {
    tokens = next_tokens(tokens);
    delivered.push_back(tokens.to(torch::kCPU));  // waits for the device
    const auto now = Clock::now();
    latencies_s.push_back(std::chrono::duration<double>(now - before).count());
    before = now;
  }
  return torch::cat(delivered, 1);
}

bool Generation::has_finite_scores() const {
  return !scores_.defined() || torch::isfinite(scores_).all().item<bool>();
}

}  // namespace bench::transformer
