#include "harness/gradient_buckets.hpp"

#include <functional>
#include <stdexcept>
#include <utility>

#include <torch/csrc/autograd/function_hook.h>

namespace bench::steps {
namespace {

/// Runs after the node that adds a gradient to a parameter's.
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

/// A tensor over part of another's memory. No view in autograd's sense: the optimizers of LibTorch
/// detach gradients in place, which it refuses for views.
torch::Tensor part_of(const torch::Tensor& flat, std::int64_t offset, const torch::Tensor& like) {
  const bool dense = like.is_non_overlapping_and_dense();
  torch::Tensor part = torch::empty({0}, flat.options());
  part.set_(flat.storage(), flat.storage_offset() + offset, like.sizes(),
            dense ? like.strides() : torch::empty(like.sizes(), torch::kMeta).strides());
  return part;
}

}  // namespace

GradientBuckets::GradientBuckets(const std::vector<torch::Tensor>& parameters,
                                 Communicator& communicator, std::int64_t bucket_bytes)
    : communicator_(&communicator) {
  if (communicator.size() == 1)
    return;
  for (auto parameter = parameters.rbegin(); parameter != parameters.rend(); ++parameter)
    if (parameter->requires_grad())
      slots_.push_back({.parameter = *parameter});
  deal(bucket_bytes);
  for (Bucket& bucket : buckets_)
    lay_out(bucket);
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    slots_[slot].accumulator = torch::autograd::impl::grad_accumulator(slots_[slot].parameter);
    slots_[slot].hook = slots_[slot].accumulator->add_post_hook(
        std::make_unique<AfterAccumulation>([this, slot] { arrive(slot); }));
  }
}

GradientBuckets::~GradientBuckets() {
  for (const Slot& slot : slots_)
    slot.accumulator->del_post_hook(slot.hook);
}

void GradientBuckets::deal(std::int64_t bucket_bytes) {
  std::int64_t bytes = bucket_bytes;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    const torch::Tensor& parameter = slots_[slot].parameter;
    const bool other_type =
        slot > 0 && parameter.scalar_type() != slots_[slot - 1].parameter.scalar_type();
    if (bytes >= bucket_bytes || other_type) {
      buckets_.emplace_back();
      bytes = 0;
    }
    buckets_.back().slots.push_back(slot);
    slots_[slot].bucket = buckets_.size() - 1;
    bytes += static_cast<std::int64_t>(parameter.nbytes());
  }
}

void GradientBuckets::lay_out(Bucket& bucket) {
  std::int64_t elements = 0;
  for (const std::size_t slot : bucket.slots)
    elements += slots_[slot].parameter.numel();
  const torch::Tensor& first = slots_[bucket.slots.front()].parameter;
  const bool with_number = &bucket == &buckets_.front();
  bucket.flat =
      torch::empty({elements + (with_number ? 2 : 0)}, first.options().requires_grad(false));
  if (with_number) {
    number_ = bucket.flat.select(0, elements).zero_();
    flag_ = bucket.flat.select(0, elements + 1).zero_();
  }
  std::int64_t offset = 0;
  for (const std::size_t slot : bucket.slots) {
    slots_[slot].place = part_of(bucket.flat, offset, slots_[slot].parameter);
    offset += slots_[slot].parameter.numel();
  }
}

/// Puts the gradient into its bucket, if it is not there already, and makes it stay there.
void GradientBuckets::take_gradient(Slot& slot) {
  torch::Tensor& gradient = slot.parameter.mutable_grad();
  if (!gradient.defined())
    slot.place.zero_();
  else if (gradient.data_ptr() != slot.place.data_ptr())
    slot.place.copy_(gradient);
  gradient = slot.place;
  slot.arrived = true;
  ++buckets_[slot.bucket].arrived;
}

void GradientBuckets::arrive(std::size_t slot) {
  if (!synchronising_)
    return;
  if (slots_[slot].arrived)
    throw std::logic_error(
        "a second backward pass before wait(): set_synchronising(false) for all but the last");
  const torch::NoGradGuard no_gradient;
  take_gradient(slots_[slot]);
  launch_complete();
}

void GradientBuckets::average(const torch::Tensor& number, bool flag) {
  if (buckets_.empty()) {
    number_ = number.detach();
    return;
  }
  number_.copy_(number.detach());
  flag_.fill_(flag ? 1 : 0);
}

torch::Tensor GradientBuckets::average_number() const {
  return buckets_.empty() ? number_ : number_.clone();
}

std::optional<torch::Tensor> GradientBuckets::any_flag() const {
  return buckets_.empty() ? std::nullopt : std::optional(flag_.clone());
}

void GradientBuckets::launch_complete() {
  for (; launched_ < buckets_.size(); ++launched_) {
    Bucket& bucket = buckets_[launched_];
    if (bucket.arrived < bucket.slots.size())
      return;
    bucket.pending = communicator_->all_reduce(bucket.flat);
  }
}

void GradientBuckets::wait() {
  const torch::NoGradGuard no_gradient;
  for (Slot& slot : slots_)
    if (!slot.arrived)
      take_gradient(slot);
  launch_complete();
  for (Bucket& bucket : buckets_) {
    bucket.pending.wait();
    bucket.flat.div_(communicator_->size());
    bucket.arrived = 0;
  }
  for (Slot& slot : slots_)
    slot.arrived = false;
  launched_ = 0;
}

void broadcast_parameters(const torch::nn::Module& module, Communicator& communicator) {
  if (communicator.size() == 1)
    return;
  const torch::NoGradGuard no_gradient;
  std::vector<torch::Tensor> tensors = module.parameters();
  const std::vector<torch::Tensor> buffers = module.buffers();
  tensors.insert(tensors.end(), buffers.begin(), buffers.end());
  for (const torch::Tensor& tensor : tensors) {
    const torch::Tensor sent = tensor.detach().contiguous();
    communicator.broadcast(sent);
    if (sent.data_ptr() != tensor.data_ptr())
      tensor.detach().copy_(sent);
  }
}

}  // namespace bench::steps
