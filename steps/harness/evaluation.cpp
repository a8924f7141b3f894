#include "harness/evaluation.hpp"

#include "harness/device.hpp"

namespace bench::steps {

void EvaluationSums::add(const torch::Tensor& numbers) {
  const torch::Tensor added = numbers.detach().to(torch::kDouble);
  sums_ = sums_.defined() ? sums_ + added : added;
}

std::optional<std::vector<double>> EvaluationSums::means(const TrainingContext& context,
                                                         std::int64_t steps) const {
  const torch::Tensor interrupted =
      torch::full({1}, is_interrupted() ? 1.0 : 0.0,
                  torch::TensorOptions(context.device).dtype(torch::kDouble));
  // A rank without a single batch has no sums to add: the flag goes first, and alone.
  context.ranks.all_reduce(interrupted).wait();
  if (interrupted.item<double>() > 0)
    return std::nullopt;
  const torch::Tensor all = sums_.clone();
  context.ranks.all_reduce(all).wait();
  return numbers_of(all / static_cast<double>(steps * context.ranks.size()));
}

}  // namespace bench::steps
