#include "harness/data_parallel.hpp"

#include "harness/communicator.hpp"
#include "harness/flat_parameters.hpp"
#include "harness/optimizer.hpp"
#include "harness/saved_state.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

#include <torch/csrc/autograd/function_hook.h>

namespace bench::steps {
namespace {

/// Runs after the node that accumulates a parameter's gradient.
class AfterAccumulation : public torch::autograd::FunctionPostHook {
 public:
  explicit AfterAccumulation(std::function<void()> then) : then_(std::move(then)) {}

  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    then_();
    return outputs;
  }

 private:
  std::function<void()> then_;
};

}  // namespace

GradientReducer::GradientReducer(FlatParameters& parameters, Communicator& data,
                                 const Options& options)
    : parameters_(parameters), data_(data), options_(options), hooks_(parameters.slots().size()) {
  if (data.size() > 1) {
    const std::int64_t numbers = parameters.gradients().numel();
    add_buckets({0, parameters.matrix_numbers()});
    add_buckets({parameters.matrix_numbers(), numbers});
    assign_parameters();
  }
  add_hooks();
}

GradientReducer::~GradientReducer() {
  for (const Hook& hook : hooks_)
    hook.accumulator->del_post_hook(hook.key);
}

/// From the end to the begin: the backward pass comes to the last layers first.
void GradientReducer::add_buckets(FlatParameters::Range range) {
  const std::int64_t share = parameters_.gradients().numel() / data_.size();
  const std::int64_t most =
      std::max<std::int64_t>(1, options_.bucket_bytes / static_cast<std::int64_t>(sizeof(float)));
  for (std::int64_t end = range.end; end > range.begin;) {
    const std::int64_t owner = (end - 1) / share;
    std::int64_t begin = std::max(range.begin, end - most);
    if (options_.to_owner)
      begin = std::max(begin, owner * share);
    buckets_.push_back({.gradients = parameters_.gradients().narrow(0, begin, end - begin),
                        .owner = static_cast<int>(owner)});
    end = begin;
  }
}

void GradientReducer::assign_parameters() {
  const std::int64_t row_begin = parameters_.gradients().storage_offset();
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    Bucket& bucket = buckets_[i];
    const std::int64_t begin = bucket.gradients.storage_offset() - row_begin;
    const FlatParameters::Range range{begin, begin + bucket.gradients.numel()};
    for (std::size_t slot = 0; slot < hooks_.size(); ++slot)
      if (parameters_.slots()[slot].range.overlaps(range)) {
        hooks_[slot].buckets.push_back(i);
        ++bucket.gradient_count;
      }
  }
}

void GradientReducer::add_hooks() {
  for (std::size_t slot = 0; slot < hooks_.size(); ++slot) {
    Hook& hook = hooks_[slot];
    hook.accumulator = torch::autograd::impl::grad_accumulator(parameters_.slots()[slot].parameter);
    hook.key = hook.accumulator->add_post_hook(
        std::make_unique<AfterAccumulation>([this, slot] { arrive(slot); }));
  }
}

void GradientReducer::begin_pass(bool first, bool last) {
  first_pass_ = first;
  reducing_ = last && options_.overlap;
  for (Hook& hook : hooks_)
    hook.arrived = false;
  for (Bucket& bucket : buckets_)
    bucket.missing = bucket.gradient_count;
}

void GradientReducer::arrive(std::size_t slot) {
  const torch::NoGradGuard no_gradient;
  Hook& hook = hooks_[slot];
  const torch::Tensor& sum = parameters_.slots()[slot].gradient;
  torch::Tensor& gradient = torch::Tensor(parameters_.slots()[slot].parameter).mutable_grad();
  if (first_pass_ && !hook.arrived)
    sum.copy_(gradient);
  else
    sum.add_(gradient);
  gradient.reset();
  if (std::exchange(hook.arrived, true)) {
    // Only a graph within a graph (recomputed layers) accumulates twice in a pass.
    if (reducing_ && data_.size() > 1)
      throw std::logic_error("a gradient that changed after its sum over the ranks had started");
    return;
  }
  count_arrival(hook);
}

void GradientReducer::count_arrival(const Hook& hook) {
  for (const std::size_t bucket : hook.buckets)
    --buckets_[bucket].missing;
  if (reducing_)
    start_complete_buckets();
}

void GradientReducer::end_pass() {
  const torch::NoGradGuard no_gradient;
  for (std::size_t slot = 0; slot < hooks_.size(); ++slot) {
    if (std::exchange(hooks_[slot].arrived, true))
      continue;
    if (first_pass_)
      parameters_.slots()[slot].gradient.zero_();
    count_arrival(hooks_[slot]);
  }
}

void GradientReducer::start_complete_buckets() {
  for (; started_ < buckets_.size() && buckets_[started_].missing == 0; ++started_) {
    Bucket& bucket = buckets_[started_];
    bucket.pending = options_.to_owner ? data_.reduce(bucket.gradients, bucket.owner)
                                       : data_.all_reduce(bucket.gradients);
  }
}

void GradientReducer::wait() {
  start_complete_buckets();
  for (Bucket& bucket : buckets_)
    bucket.pending.wait();
  started_ = 0;
}

ShardedOptimizer::ShardedOptimizer(FlatParameters& parameters, Communicator& data,
                                   Communicator& all, const MakeOptimizer& make, bool sharded)
    : parameters_(parameters),
      data_(data),
      all_(all),
      sharded_(sharded && data.size() > 1),
      length_(parameters.values().numel() / (sharded_ ? data.size() : 1)),
      begin_(sharded_ ? length_ * data.rank() : 0),
      weights_(own_part(parameters.values()).to(torch::kFloat)),
      optimizer_(make(rows())) {}

OptimizerRows ShardedOptimizer::rows() {
  const auto inside = [&](std::int64_t place) {
    return std::clamp(place - begin_, std::int64_t{0}, length_);
  };
  OptimizerRows rows{.weights = weights_,
                     .gradients = own_part(parameters_.gradients()),
                     .matrix_numbers = inside(parameters_.matrix_numbers())};
  for (const FlatParameters::Slot& slot : parameters_.slots())
    rows.parameters.push_back({inside(slot.range.begin), inside(slot.range.end)});
  if (sharded_)
    rows.sum_over_shares = [this](const torch::Tensor& sums) { data_.all_reduce(sums).wait(); };
  return rows;
}

/// So that each number of the model counts once.
bool ShardedOptimizer::speaks_for_its_share() const {
  return sharded_ || data_.rank() == 0;
}

torch::Tensor ShardedOptimizer::gradient_norm() {
  const torch::NoGradGuard no_gradient;
  torch::Tensor squares = torch::zeros({}, parameters_.gradients().options().dtype(torch::kDouble));
  for (const auto& [begin, end] : parameters_.own()) {
    const std::int64_t from = std::max(begin, begin_);
    const std::int64_t to = std::min(end, begin_ + length_);
    if (from < to && speaks_for_its_share())
      squares += parameters_.gradients().narrow(0, from, to - from).norm().square();
  }
  all_.all_reduce(squares).wait();
  return squares.sqrt_().div_(data_.size());
}

void ShardedOptimizer::step(double learning_rate, double gradient_scale) {
  optimizer_->step(learning_rate, gradient_scale / data_.size());
  publish();
}

void ShardedOptimizer::publish() {
  const torch::NoGradGuard no_gradient;
  const torch::Tensor own = own_part(parameters_.values());
  if (!own.is_alias_of(weights_))
    own.copy_(weights_);
  if (sharded_)
    data_.all_gather_in_place(parameters_.values());
}

void ShardedOptimizer::save(SavedState& state) const {
  if (!speaks_for_its_share())
    return;
  state.set(saved_weights, weights_);
  optimizer_->save(state);
}

void ShardedOptimizer::load(const SavedState& state) {
  state.copy_to(saved_weights, weights_);
  optimizer_->load(state);
  publish();
}

}  // namespace bench::steps
