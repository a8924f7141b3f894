#include "gpt/tensor_parallel.hpp"

#include "gpt/carried.hpp"

namespace bench::gpt {
namespace {

using steps::Communicator;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// (B, S/T, n) of each rank -> (B, S, n).
torch::Tensor gathered(const torch::Tensor& x, Communicator& group) {
  const torch::Tensor parts = group.all_gather(x.contiguous());  // (T, B, S/T, n)
  return parts.transpose(0, 1).reshape({x.size(0), group.size() * x.size(1), x.size(2)});
}

/// (B, S, n) of each rank -> this rank's part of their sum, (B, S/T, n).
torch::Tensor reduced(const torch::Tensor& x, Communicator& group) {
  const std::int64_t part = x.size(1) / group.size();
  torch::Tensor parts =
      x.reshape({x.size(0), group.size(), part, x.size(2)}).transpose(0, 1).contiguous();
  if (x.is_cpu() && x.scalar_type() == torch::kBFloat16)  // Gloo of LibTorch 1.13 has none
    parts = parts.to(torch::kFloat);
  return group.reduce_scatter(parts).view({x.size(0), part, x.size(2)}).to(x.scalar_type());
}

class ColumnParallel : public torch::autograd::Function<ColumnParallel> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight,
                               const c10::optional<torch::Tensor>& bias, Communicator group) {
    context->save_for_backward({x, weight});
    const torch::Tensor result = torch::linear(gathered(x, group), weight, bias);
    context->saved_data["bias"] = bias.has_value();
    carry(context, "group", std::move(group));
    return result;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    auto& group = carried<Communicator>(context, "group");
    const torch::Tensor& d_result = gradients[0];  // (B, S, out/T)
    const torch::Tensor d_x = reduced(torch::matmul(d_result, saved[1]), group);
    const torch::Tensor rows = d_result.reshape({-1, d_result.size(2)});
    const torch::Tensor x = gathered(saved[0], group);
    return {d_x,
            rows.t().mm(x.view({-1, x.size(2)})),
            context->saved_data["bias"].toBool() ? rows.sum(0) : torch::Tensor(),
            {}};
  }
};

class SumAndSplit : public torch::autograd::Function<SumAndSplit> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               Communicator group) {
    const torch::Tensor result = reduced(x, group);
    carry(context, "group", std::move(group));
    return result;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    return {gathered(gradients[0], carried<Communicator>(context, "group")), {}};
  }
};

/// Numbers of rows of a rank's part of a table, and which of the numbers are not its own.
struct OwnRows {
  OwnRows(const torch::Tensor& numbers, std::int64_t rows, int rank) {
    const torch::Tensor from_own = numbers - rows * rank;
    foreign = from_own.lt(0).logical_or_(from_own.ge(rows));
    row = from_own.masked_fill(foreign, 0);
  }
  torch::Tensor row;      ///< 0 where it is foreign.
  torch::Tensor foreign;  ///< bool
};

class SplitCrossEntropy : public torch::autograd::Function<SplitCrossEntropy> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& scores,
                               const torch::Tensor& targets, Communicator group) {
    // From the largest score of all ranks, so that no exponential overflows.
    const torch::Tensor highest =
        group.all_gather(scores.amax(1).to(torch::kFloat)).amax(0);  // (tokens)
    torch::Tensor exponentials =
        scores.to(torch::kFloat, /*non_blocking=*/false, /*copy=*/true).sub_(highest.unsqueeze(1));
    const OwnRows own(targets, scores.size(1), group.rank());
    const torch::Tensor of_target =
        exponentials.gather(1, own.row.unsqueeze(1)).squeeze(1).masked_fill_(own.foreign, 0);
    exponentials.exp_();
    const torch::Tensor sums = torch::stack({exponentials.sum(1), of_target});
    group.all_reduce(sums).wait();
    context->save_for_backward({exponentials, sums[0], own.row, own.foreign});
    context->saved_data["type"] = scores.scalar_type();
    return (sums[0].log() - sums[1]).mean();
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor scale = gradients[0] / static_cast<double>(saved[0].size(0));
    // Nobody needs the exponentials after this, so that they may become the gradient.
    torch::Tensor d_scores = saved[0].mul_((scale / saved[1]).unsqueeze(1));
    const torch::Tensor of_target = (-scale).expand_as(saved[1]).masked_fill(saved[3], 0);
    d_scores.scatter_add_(1, saved[2].unsqueeze(1), of_target.unsqueeze(1));
    return {d_scores.to(context->saved_data["type"].toScalarType()), {}, {}};
  }
};

/// Of whole rows of scores: LibTorch's logarithm of the softmax is one pass.
class CrossEntropy : public torch::autograd::Function<CrossEntropy> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& scores,
                               const torch::Tensor& targets) {
    const torch::Tensor logarithms = torch::log_softmax(scores, 1, torch::kFloat);
    const torch::Tensor columns = targets.unsqueeze(1);
    context->save_for_backward({logarithms, columns});
    context->saved_data["type"] = scores.scalar_type();
    return -logarithms.gather(1, columns).mean();
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor scale = gradients[0] / static_cast<double>(saved[0].size(0));
    // Nobody needs the logarithms after this, so that they may become the gradient.
    torch::Tensor d_scores = saved[0].exp_().mul_(scale);
    d_scores.scatter_add_(1, saved[1], (-scale).expand_as(saved[1]));
    return {d_scores.to(context->saved_data["type"].toScalarType()), {}};
  }
};

}  // namespace

torch::Tensor column_parallel(const torch::Tensor& x, const torch::Tensor& weight,
                              const c10::optional<torch::Tensor>& bias, const Communicator& group) {
  if (group.size() == 1)
    return torch::linear(x, weight, bias);
  return ColumnParallel::apply(x, weight, bias, group);
}

torch::Tensor sum_and_split(const torch::Tensor& x, const Communicator& group) {
  return group.size() == 1 ? x : SumAndSplit::apply(x, group);
}

torch::Tensor split_embedding(const torch::Tensor& tokens, const torch::Tensor& table,
                              const Communicator& group) {
  if (group.size() == 1)
    return torch::embedding(table, tokens);
  const OwnRows own(tokens, table.size(0), group.rank());
  const torch::Tensor rows = torch::embedding(table, own.row);
  return sum_and_split(rows.masked_fill(own.foreign.unsqueeze(2), 0), group);
}

torch::Tensor split_cross_entropy(const torch::Tensor& scores, const torch::Tensor& targets,
                                  const Communicator& group) {
  const torch::Tensor rows = scores.reshape({-1, scores.size(2)});
  const torch::Tensor row_targets = targets.reshape({-1});
  return group.size() == 1 ? CrossEntropy::apply(rows, row_targets)
                           : SplitCrossEntropy::apply(rows, row_targets, group);
}

}  // namespace bench::gpt
