#include "harness/gradient_reducer.hpp"

#include "harness/communicator.hpp"
#include "harness/flat_parameters.hpp"

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

}  // namespace bench::steps
