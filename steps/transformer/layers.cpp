#include "transformer/layers.hpp"

#include "data/random.hpp"
#include "harness/communicator.hpp"
#include "harness/saved_state.hpp"
#include "transformer/tensor_parallel.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace bench::transformer {

namespace {

/// A parameter of its own: neither a view nor shared with what was drawn.
torch::Tensor copied(const torch::Tensor& drawn, const torch::TensorOptions& tensors) {
  return drawn.to(tensors, /*non_blocking=*/false, /*copy=*/true);
}

}  // namespace

torch::Tensor WeightInit::draw(std::uint64_t number, torch::IntArrayRef shape,
                               double deviation) const {
  const torch::Tensor result = torch::empty(shape, tensors.dtype(torch::kFloat));
  if (result.is_meta())
    return result;  // the device has no generator
  at::Generator generator = at::globalContext().defaultGenerator(result.device()).clone();
  generator.set_current_seed(steps::mixed(seed ^ steps::mixed(number)));
  return result.normal_(0, deviation, generator);
}

torch::Tensor WeightInit::own_slice(const torch::Tensor& drawn, std::int64_t dimension) const {
  return drawn.chunk(group.size(), dimension)[static_cast<std::size_t>(group.rank())];
}

torch::Tensor WeightInit::whole(std::uint64_t number, std::int64_t rows, std::int64_t columns,
                                double deviation) const {
  return copied(draw(number, {rows, columns}, deviation), tensors);
}

torch::Tensor WeightInit::split_rows(std::uint64_t number, std::int64_t rows, std::int64_t columns,
                                     double deviation, std::int64_t stacked) const {
  const torch::Tensor drawn = draw(number, {stacked, rows / stacked, columns}, deviation);
  return copied(own_slice(drawn, 1).flatten(0, 1), tensors);
}

torch::Tensor WeightInit::split_columns(std::uint64_t number, std::int64_t rows,
                                        std::int64_t columns, double deviation) const {
  return copied(own_slice(draw(number, {rows, columns}, deviation), 1), tensors);
}

double residual_deviation(double deviation, std::int64_t layers) {
  return deviation / std::sqrt(2.0 * static_cast<double>(layers));
}

namespace {

c10::optional<torch::Tensor> if_defined(const torch::Tensor& tensor) {
  return tensor.defined() ? c10::optional<torch::Tensor>(tensor) : c10::optional<torch::Tensor>();
}

}  // namespace

ColumnLinearImpl::ColumnLinearImpl(const WeightInit& init, std::uint64_t number,
                                   const LinearOptions& options, std::int64_t stacked)
    : group_(init.group),
      stacked_(stacked),
      weight_(register_parameter(
          "weight", init.split_rows(number, options.out, options.in, options.deviation, stacked))) {
  if (options.bias)
    bias_ = register_parameter("bias", torch::zeros({options.out / group_.size()}, init.tensors));
}

torch::Tensor ColumnLinearImpl::forward(const torch::Tensor& x) {
  return column_parallel(x, weight_, if_defined(bias_), group_);
}

RowLinearImpl::RowLinearImpl(const WeightInit& init, std::uint64_t number,
                             const LinearOptions& options)
    : group_(init.group),
      weight_(register_parameter(
          "weight", init.split_columns(number, options.out, options.in, options.deviation))) {
  if (options.bias)
    bias_ = register_parameter("bias", torch::zeros({options.out}, init.tensors));
}

torch::Tensor RowLinearImpl::forward(const torch::Tensor& x) {
  if (group_.size() == 1)
    return product(x, weight_, if_defined(bias_));
  const torch::Tensor sum = sum_of_ranks(product(x, weight_), group_);
  return bias_.defined() ? sum + bias_ : sum;
}

std::vector<torch::Tensor> RowLinearImpl::whole_parameters() const {
  return bias_.defined() ? std::vector{bias_} : std::vector<torch::Tensor>{};
}

namespace {

constexpr double norm_epsilon = 1e-5;  // of GPT-2 and of Llama 3

}  // namespace

LayerNormImpl::LayerNormImpl(std::int64_t size, const torch::TensorOptions& tensors)
    : weight_(register_parameter("weight", torch::ones({size}, tensors))),
      bias_(register_parameter("bias", torch::zeros({size}, tensors))) {}

torch::Tensor LayerNormImpl::forward(const torch::Tensor& x) {
  return torch::layer_norm(x, {weight_.size(0)}, weight_, bias_, norm_epsilon);
}

RmsNormImpl::RmsNormImpl(std::int64_t size, const torch::TensorOptions& tensors)
    : weight_(register_parameter("weight", torch::ones({size}, tensors))) {}

torch::Tensor RmsNormImpl::forward(const torch::Tensor& x) {
#if BENCH_TORCH_AT_LEAST(2, 4)
  return torch::rms_norm(x, {weight_.size(0)}, weight_, norm_epsilon);
#else
  const torch::Tensor exact = x.to(torch::kFloat);
  const torch::Tensor inverse =
      exact.square().mean(-1, /*keepdim=*/true).add_(norm_epsilon).rsqrt_();
  return (exact * inverse).to(x.scalar_type()) * weight_;
#endif
}

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

enum class Direction { forward, inverse };

torch::Tensor rotated(const torch::Tensor& x, const torch::Tensor& cosine,
                      const torch::Tensor& sine, Direction direction) {
  const int sign = direction == Direction::forward ? 1 : -1;
  const std::int64_t half = x.size(-1) / 2;
  const torch::Tensor first = x.narrow(-1, 0, half);
  const torch::Tensor second = x.narrow(-1, half, half);
  torch::Tensor result = torch::empty(x.sizes(), x.options());
  torch::Tensor result_first = result.narrow(-1, 0, half);
  torch::Tensor result_second = result.narrow(-1, half, half);
  at::mul_out(result_first, first, cosine).addcmul_(second, sine, -sign);
  at::mul_out(result_second, second, cosine).addcmul_(first, sine, sign);
  return result;
}

/// The gradient of a rotation is the inverse rotation, so only the angles are kept.
class Rotation : public torch::autograd::Function<Rotation> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& cosine, const torch::Tensor& sine) {
    context->save_for_backward({cosine, sine});
    return rotated(x, cosine, sine, Direction::forward);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    return {rotated(gradients[0], saved[0], saved[1], Direction::inverse), {}, {}};
  }
};

}  // namespace

Rotary::Rotary(std::int64_t sequence, std::int64_t head_size, double base,
               const torch::TensorOptions& options) {
  const auto exact = options.dtype(torch::kDouble);
  const torch::Tensor exponents =
      torch::arange(0, head_size, 2, exact) / static_cast<double>(head_size);
  const torch::Tensor angles =
      torch::outer(torch::arange(sequence, exact), torch::pow(base, -exponents))
          .view({sequence, 1, 1, head_size / 2});
  cosine_ = angles.cos().to(options.dtype());
  sine_ = angles.sin().to(options.dtype());
}

torch::Tensor Rotary::rotate(const torch::Tensor& x, std::int64_t first) const {
  const std::int64_t count = x.size(1);
  return Rotation::apply(x, cosine_.narrow(0, first, count), sine_.narrow(0, first, count));
}

SwiGluImpl::SwiGluImpl(const WeightInit& init, std::uint64_t number, std::int64_t hidden,
                       std::int64_t width, double deviation, double down_deviation)
    : gate_up_(register_module(
          "gate_up",
          ColumnLinear(
              init, number,
              LinearOptions{.in = hidden, .out = 2 * width, .deviation = deviation, .bias = false},
              /*stacked=*/2))),
      down_(register_module(
          "down",
          RowLinear(init, number + 1,
                    LinearOptions{
                        .in = width, .out = hidden, .deviation = down_deviation, .bias = false}))) {
}

torch::Tensor SwiGluImpl::forward(const torch::Tensor& x) {
  const std::vector<torch::Tensor> gate_up = gate_up_->forward(x).chunk(2, 2);  // (B, S, width/T)
  return down_->forward(torch::silu(gate_up[0]) * gate_up[1]);
}

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

namespace {

using Work = std::function<torch::Tensor(const torch::Tensor&)>;

class Recomputation : public torch::autograd::Function<Recomputation> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x, const Work& work) {
    save_value(context, "work", work);
    context->save_for_backward({x, steps::random_state(x.device())});
    const torch::NoGradGuard no_gradient;
    return work(x);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor x = saved[0].detach().requires_grad_();
    const torch::Tensor current_state = steps::random_state(x.device());
    steps::set_random_state(x.device(), saved[1]);
    torch::Tensor y;
    {
      const torch::AutoGradMode with_gradient(true);
      y = saved_value<Work>(context, "work")(x);
    }
    steps::set_random_state(x.device(), current_state);
    y.backward(gradients[0]);
    return {x.grad(), {}};
  }
};

}  // namespace

torch::Tensor recomputed(const Work& work, const torch::Tensor& x) {
  return Recomputation::apply(x, work);
}

}  // namespace bench::transformer
