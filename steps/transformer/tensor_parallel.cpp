#include "transformer/tensor_parallel.hpp"

#include "harness/communicator.hpp"
#include "transformer/autograd_value.hpp"
#include "transformer/matrix_product.hpp"
#include "transformer/tensor_ranks.hpp"

#include <cstdint>
#include <utility>

namespace bench::transformer {
namespace {

using steps::Communicator;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// (B, S/T, n) of each rank -> (B, S, n).
torch::Tensor all_gather_slices(const torch::Tensor& x, Communicator& group) {
  const torch::Tensor slices = group.all_gather(x.contiguous());  // (T, B, S/T, n)
  return slices.transpose(0, 1).reshape({x.size(0), group.size() * x.size(1), x.size(2)});
}

/// In a format in which ranks can sum: Gloo of LibTorch 1.13 cannot sum bf16.
torch::Tensor summable(const torch::Tensor& x) {
  return x.is_cpu() && x.scalar_type() == torch::kBFloat16 ? x.to(torch::kFloat) : x;
}

/// (B, S, n) of each rank -> this rank's slice of their sum, (B, S/T, n).
torch::Tensor reduce_scatter_slices(const torch::Tensor& x, Communicator& group) {
  const std::int64_t length = x.size(1) / group.size();
  const torch::Tensor slices =
      x.reshape({x.size(0), group.size(), length, x.size(2)}).transpose(0, 1).contiguous();
  return group.reduce_scatter(summable(slices))
      .view({x.size(0), length, x.size(2)})
      .to(x.scalar_type());
}

/// (B, S, n) of each rank -> their sum, (B, S, n).
torch::Tensor all_reduced(const torch::Tensor& x, Communicator group) {
  const torch::Tensor sum = summable(x).contiguous();
  group.all_reduce(sum).wait();
  return sum.to(x.scalar_type());
}

class ColumnParallel : public torch::autograd::Function<ColumnParallel> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight,
                               const c10::optional<torch::Tensor>& bias, Communicator group) {
    context->save_for_backward({x, weight});
    const torch::Tensor result = torch::linear(all_gather_slices(x, group), weight, bias);
    context->saved_data["bias"] = bias.has_value();
    save_value(context, "group", std::move(group));
    return result;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    auto& group = saved_value<Communicator>(context, "group");
    const torch::Tensor& d_result = gradients[0];  // (B, S, out/T)
    const torch::Tensor d_x = reduce_scatter_slices(torch::matmul(d_result, saved[1]), group);
    const torch::Tensor rows = d_result.reshape({-1, d_result.size(2)});
    const torch::Tensor x = all_gather_slices(saved[0], group);
    return {d_x,
            rows.t().mm(x.view({-1, x.size(2)})),
            context->saved_data["bias"].toBool() ? rows.sum(0) : torch::Tensor(),
            {}};
  }
};

class ReduceScatterSequence : public torch::autograd::Function<ReduceScatterSequence> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               Communicator group) {
    const torch::Tensor result = reduce_scatter_slices(x, group);
    save_value(context, "group", std::move(group));
    return result;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    return {all_gather_slices(gradients[0], saved_value<Communicator>(context, "group")), {}};
  }
};

}  // namespace

torch::Tensor column_parallel(const torch::Tensor& x, const torch::Tensor& weight,
                              const c10::optional<torch::Tensor>& bias, const TensorRanks& group) {
  if (group.size() == 1 || group.have_all_tokens)
    return product(x, weight, bias);
  return ColumnParallel::apply(x, weight, bias, group);
}

torch::Tensor sum_of_ranks(const torch::Tensor& x, const TensorRanks& group) {
  if (group.size() == 1)
    return x;
  return group.have_all_tokens ? all_reduced(x, group) : ReduceScatterSequence::apply(x, group);
}

}  // namespace bench::transformer
