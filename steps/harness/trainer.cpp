#include "harness/trainer.hpp"

#include "data/random.hpp"
#include "harness/communicator.hpp"
#include "harness/device.hpp"
#include "harness/flat_parameters.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/saved_state.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench::steps {
namespace {

// Where `numbers_` has what.
constexpr std::size_t loss_index = 0;
constexpr std::size_t interrupted_index = 1;
constexpr std::size_t time_index = 2;
constexpr std::size_t first_observed = 3;

/// Keeps the factor finite where there is no gradient. Source: torch.nn.utils.clip_grad_norm_.
constexpr double clip_epsilon = 1e-6;

/// The parameters of a model whose parameters and buffers are now those of rank 0.
std::vector<torch::Tensor> equal_parameters(const torch::nn::Module& model, Communicator& ranks) {
  const torch::NoGradGuard no_gradient;
  std::vector<torch::Tensor> tensors = model.parameters();
  const std::vector<torch::Tensor> buffers = model.buffers();
  tensors.insert(tensors.end(), buffers.begin(), buffers.end());
  for (const torch::Tensor& tensor : tensors) {
    const torch::Tensor sent = tensor.detach().contiguous();
    ranks.broadcast(sent);
    if (!sent.is_alias_of(tensor))
      tensor.detach().copy_(sent);
  }
  return model.parameters();
}

/// The numbers, among all ranks, of those of `data`.
std::vector<int> ranks_of(Communicator& data, const TrainingContext& context) {
  const torch::Tensor ranks =
      torch::zeros({data.size()}, torch::TensorOptions(context.device).dtype(torch::kInt));
  ranks[data.rank()] = context.ranks.rank();
  data.all_reduce(ranks).wait();
  const torch::Tensor host = ranks.cpu();
  return {host.data_ptr<int>(), host.data_ptr<int>() + host.numel()};
}

/// @param ranks that save a share of the row each
RowLayout row_layout_of(const torch::nn::Module& model, const FlatParameters& parameters,
                        const std::map<std::string, Split>& splits, FlatParameters::Range share,
                        std::vector<int> ranks) {
  RowLayout layout{
      .numbers = parameters.values().numel(), .share = share, .ranks = std::move(ranks)};
  for (const auto& named : model.named_parameters())
    for (const FlatParameters::Slot& slot : parameters.slots())
      if (slot.parameter.is_same(named.value())) {
        const auto split = splits.find(named.key());
        layout.parameters.push_back({.name = named.key(),
                                     .shape = slot.parameter.sizes().vec(),
                                     .split = split == splits.end() ? Split() : split->second,
                                     .range = slot.range});
      }
  return layout;
}

torch::Tensor flag(bool holds, const torch::Tensor& like) {
  return torch::full_like(like, holds ? 1 : 0);
}

}  // namespace

std::function<double(std::int64_t)> rate_of(const RateSchedule& schedule, double unit) {
  return [schedule, unit](std::int64_t samples) {
    return schedule.rate(static_cast<double>(samples) / unit);
  };
}

Trainer::Trainer(const TrainingContext& context, const torch::nn::Module& model,
                 TrainerOptions options)
    : context_(context),
      options_(std::move(options)),
      graphs_(options_.cuda_graph ? make_cuda_graphs(context.device) : nullptr),
      parameters_(equal_parameters(model, data()), data().size(), options_.parallelism.copies),
      reducer_(parameters_, data(),
               {.to_owner = options_.shard_optimizer && data().size() > 1,
                .overlap = !options_.parallelism.complete_gradients}),
      optimizer_(parameters_, data(), context.ranks, options_.optimizer, options_.shard_optimizer),
      loss_sum_(torch::zeros({}, torch::TensorOptions(context.device))),
      lagged_(needs_norm() ? LaggedNumbers(0) : LaggedNumbers(context.device)) {
  std::vector<int> ranks = ranks_of(data(), context);
  if (!optimizer_.is_sharded())
    ranks.resize(1);
  row_layout_ = row_layout_of(model, parameters_, options_.parallelism.splits, optimizer_.share(),
                              std::move(ranks));
  if (context.precision == Precision::fp16 && options_.dynamic_loss_scale)
    dynamic_scale_.emplace(*options_.dynamic_loss_scale);
  // Weights are equal; dropout and samples are not.
  torch::manual_seed(context.seed + static_cast<std::uint64_t>(context.ranks.rank()));
}

Communicator& Trainer::data() const {
  return options_.parallelism.data ? *options_.parallelism.data : context_.ranks;
}

double Trainer::loss_scale() const {
  return dynamic_scale_ ? dynamic_scale_->scale() : steps::loss_scale(context_.precision);
}

bool Trainer::needs_norm() const {
  return options_.clip_gradient > 0 || options_.report_gradient_norm ||
         (context_.precision == Precision::fp16 && options_.dynamic_loss_scale);
}

template <typename Pass>
void Trainer::run_pass(const Pass& pass) {
  reducer_.begin_pass(pass_ == 0, pass_ + 1 == options_.micro_batches);
  pass();
  reducer_.end_pass();
  pass_ = (pass_ + 1) % options_.micro_batches;
}

void Trainer::backward(const torch::Tensor& loss) {
  if (pass_ == 0)
    loss_sum_.copy_(loss.detach());
  else
    loss_sum_.add_(loss.detach());
  const double scale = loss_scale() / static_cast<double>(options_.micro_batches);
  run_pass([&] { (scale == 1 ? loss : loss * scale).backward(); });
}

void Trainer::backward(const torch::Tensor& output, const torch::Tensor& gradient) {
  run_pass([&] { output.backward(gradient); });
}

void Trainer::observe(const torch::Tensor& number) {
  observed_.push_back(number.detach().to(torch::kFloat));
}

void Trainer::wait_for_gradients(bool time_is_over) {
  const torch::NoGradGuard no_gradient;
  current_ = {.loss_scale = loss_scale()};
  if (options_.parallelism.complete_gradients)
    options_.parallelism.complete_gradients(parameters_);
  reducer_.wait();
  std::vector<torch::Tensor> sums{loss_sum_ / static_cast<double>(options_.micro_batches),
                                  flag(is_interrupted(), loss_sum_), flag(time_is_over, loss_sum_)};
  sums.insert(sums.end(), observed_.begin(), observed_.end());
  observed_.clear();
  numbers_ = torch::stack(sums);
  context_.ranks.all_reduce(numbers_).wait();
}

void Trainer::update_weights() {
  const torch::NoGradGuard no_gradient;
  double clip = 1;
  if (needs_norm()) {
    // The one time in a step that the host waits for the device.
    known_ = numbers_of(
        torch::cat({numbers_.to(torch::kDouble), optimizer_.gradient_norm().unsqueeze(0)}));
    const double norm = known_->back() / current_.loss_scale;
    known_->pop_back();
    current_.gradient_norm = norm;
    current_.skipped = !std::isfinite(norm);
    current_.diverged =
        dynamic_scale_ ? !dynamic_scale_->update(!current_.skipped) : current_.skipped;
    if (current_.skipped)
      return;
    if (options_.clip_gradient > 0)
      clip = std::min(1.0, options_.clip_gradient / (norm + clip_epsilon));
  }
  optimizer_.step(options_.learning_rate(scheduled_samples_), clip / current_.loss_scale);
}

void Trainer::end_step() {
  ++steps_;
  samples_ += options_.global_batch;
  scheduled_samples_ += current_.skipped ? 0 : options_.global_batch;
  current_.learning_rate = options_.learning_rate(scheduled_samples_);
  if (known_) {
    newest_ = result_of(current_, *std::exchange(known_, std::nullopt));
    return;
  }
  under_way_.push_back(current_);
  if (const auto known = lagged_.add(numbers_)) {
    newest_ = result_of(under_way_.front(), *known);
    under_way_.pop_front();
  }
}

/// @param numbers sums over the ranks
StepResult Trainer::result_of(StepResult result, const std::vector<double>& numbers) const {
  const int ranks = context_.ranks.size();
  const int with_loss = options_.parallelism.ranks_with_loss;
  // In fp32, as the sums are.
  const auto mean = [](double sum, int count) {
    return static_cast<double>(static_cast<float>(sum) / static_cast<float>(count));
  };
  result.loss = mean(numbers[loss_index], with_loss > 0 ? with_loss : ranks);
  result.diverged = result.diverged || !std::isfinite(result.loss);
  // One rank alone need not wait for later steps to know of a signal.
  result.interrupted = numbers[interrupted_index] > 0 || (ranks == 1 && is_interrupted());
  result.time_is_over = numbers[time_index] > 0;
  for (std::size_t i = first_observed; i < numbers.size(); ++i)
    result.observed.push_back(mean(numbers[i], ranks));
  return result;
}

std::optional<StepResult> Trainer::newest_result() {
  return std::exchange(newest_, std::nullopt);
}

std::optional<StepResult> Trainer::await_result() {
  if (newest_)
    return newest_result();
  const auto numbers = lagged_.take();
  if (!numbers)
    return std::nullopt;
  const StepResult result = result_of(under_way_.front(), *numbers);
  under_way_.pop_front();
  return result;
}

int Trainer::weights_rank() const {
  return optimizer_.is_sharded() ? context_.ranks.rank() : row_layout_.ranks.front();
}

SavedState Trainer::state() const {
  SavedState state;
  state.set_number("steps", static_cast<double>(steps_));
  state.set_number("samples", static_cast<double>(samples_));
  state.set_number("scheduled_samples", static_cast<double>(scheduled_samples_));
  state.set(saved_random_state, random_state(context_.device));
  state.set_text(saved_row_layout, row_layout_.text());
  optimizer_.save(state);
  if (dynamic_scale_)
    dynamic_scale_->save(state);
  return state;
}

void Trainer::restore(const SavedState& own, const SavedState& weights) {
  steps_ = static_cast<std::int64_t>(own.number("steps"));
  samples_ = static_cast<std::int64_t>(own.number("samples"));
  scheduled_samples_ = static_cast<std::int64_t>(own.number("scheduled_samples"));
  optimizer_.load(weights);
  if (dynamic_scale_)
    dynamic_scale_->load(own);
  if (own.has(saved_random_state))
    set_random_state(context_.device, own.tensor(saved_random_state));
  else  // not those of the beginning again
    torch::manual_seed(mixed(context_.seed ^ mixed(static_cast<std::uint64_t>(steps_))) +
                       static_cast<std::uint64_t>(context_.ranks.rank()));
}

}  // namespace bench::steps
