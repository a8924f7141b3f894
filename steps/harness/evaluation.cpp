#include "harness/evaluation.hpp"

#include "harness/communicator.hpp"
#include "harness/device.hpp"
#include "harness/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
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

namespace {

/// Calls after which all ranks know of a signal, on a GPU two more. The stages of a pipeline are so
/// many batches apart at most.
constexpr std::size_t agreed_after = 8;

}  // namespace

std::int64_t EvaluationShare::steps() const {
  const std::int64_t at_once = batch_size * ranks;
  return (samples + at_once - 1) / at_once;
}

std::int64_t EvaluationShare::count(std::int64_t step) const {
  const std::int64_t first = (step * ranks + rank) * batch_size;
  return std::clamp(samples - first, std::int64_t{0}, batch_size);
}

EvaluationSums::~EvaluationSums() {
  for (Asked& asked : asked_)
    try {
      asked.sum.wait();
    } catch (const CommunicationError&) {
      // Another exception is on its way, or the next operation fails as well.
    }
}

void EvaluationSums::add(const torch::Tensor& numbers, std::int64_t count) {
  if (!sums_.defined())
    sums_ = torch::zeros({numbers.numel() + 1},
                         torch::TensorOptions(context_.device).dtype(torch::kDouble));
  if (count == 0)
    return;
  sums_.narrow(0, 0, numbers.numel())
      .add_(numbers.detach().to(torch::kDouble), static_cast<double>(count));
  sums_.narrow(0, numbers.numel(), 1).add_(static_cast<double>(count));
}

EvaluationSums::Asked EvaluationSums::ask(bool time_is_over) const {
  const torch::Tensor flags = torch::zeros({2}, torch::TensorOptions(context_.device));
  if (is_interrupted())
    flags[0].fill_(1);
  if (time_is_over)
    flags[1].fill_(1);
  return {flags, context_.ranks.all_reduce(flags)};
}

bool EvaluationSums::must_end(bool time_is_over) {
  asked_.push_back(ask(time_is_over));
  if (context_.ranks.size() > 1 && asked_.size() <= agreed_after)
    return false;
  Asked oldest = std::move(asked_.front());
  asked_.pop_front();
  oldest.sum.wait();
  const auto flags = flags_.add(oldest.flags);
  return flags && (flags->at(0) > 0 || flags->at(1) > 0);
}

std::optional<std::vector<double>> EvaluationSums::means() {
  Asked last = ask(/*time_is_over=*/false);
  last.sum.wait();
  // A rank that ended early may have no sums.
  if (last.flags[0].item<double>() > 0)
    return std::nullopt;
  const torch::Tensor all = sums_.clone();
  context_.ranks.all_reduce(all).wait();
  std::vector<double> means = numbers_of(all);
  const double samples = means.back();
  means.pop_back();
  for (double& mean : means)
    mean /= samples;
  return means;
}

}  // namespace bench::steps
