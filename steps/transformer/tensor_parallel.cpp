#include "transformer/tensor_parallel.hpp"

#include "harness/communicator.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace bench::transformer {

torch::Tensor product(const torch::Tensor& x, const torch::Tensor& weight,
                      const c10::optional<torch::Tensor>& bias) {
  const bool is_vector = x.numel() == x.size(-1);
  if (!is_vector || !x.is_cpu() || x.scalar_type() != torch::kFloat)
    return torch::linear(x, weight, bias);
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape.back() = weight.size(0);
  const torch::Tensor vector = x.reshape({-1});
  return (bias ? torch::addmv(*bias, weight, vector) : torch::mv(weight, vector)).view(shape);
}

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

namespace {

using steps::Communicator;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Tokens as rows of the slice of the vocabulary that this rank holds.
struct LocalRows {
  LocalRows(const torch::Tensor& tokens, std::int64_t rows, int rank) {
    const torch::Tensor relative = tokens - rows * rank;
    elsewhere = relative.lt(0).logical_or_(relative.ge(rows));
    row = relative.masked_fill(elsewhere, 0);
  }
  torch::Tensor row;        ///< 0 where another rank holds it.
  torch::Tensor elsewhere;  ///< bool: another rank holds it.
};

class VocabParallelCrossEntropy : public torch::autograd::Function<VocabParallelCrossEntropy> {
 public:
  /// @param scores (tokens, V/T)
  /// @param targets (tokens)
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& scores,
                               const torch::Tensor& targets, Communicator group) {
    // Relative to the highest score of all ranks, so no exponential overflows.
    const torch::Tensor highest =
        group.all_gather(scores.amax(1).to(torch::kFloat)).amax(0);  // (tokens)
    torch::Tensor exponentials =
        scores.to(torch::kFloat, /*non_blocking=*/false, /*copy=*/true).sub_(highest.unsqueeze(1));
    const LocalRows local(targets, scores.size(1), group.rank());
    const torch::Tensor of_target =
        exponentials.gather(1, local.row.unsqueeze(1)).squeeze(1).masked_fill_(local.elsewhere, 0);
    exponentials.exp_();
    const torch::Tensor sums = torch::stack({exponentials.sum(1), of_target});
    group.all_reduce(sums).wait();
    context->save_for_backward({exponentials, sums[0], local.row, local.elsewhere});
    context->saved_data["type"] = scores.scalar_type();
    return (sums[0].log() - sums[1]).mean();
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor scale = gradients[0] / static_cast<double>(saved[0].size(0));
    // Nothing reads the exponentials after this, so they become the gradient.
    torch::Tensor d_scores = saved[0].mul_((scale / saved[1]).unsqueeze(1));
    const torch::Tensor of_target = (-scale).expand_as(saved[1]).masked_fill(saved[3], 0);
    d_scores.scatter_add_(1, saved[2].unsqueeze(1), of_target.unsqueeze(1));
    return {d_scores.to(context->saved_data["type"].toScalarType()), {}, {}};
  }
};

/// For whole rows of scores, where LibTorch's logarithm of the softmax is one pass.
class CrossEntropy : public torch::autograd::Function<CrossEntropy> {
 public:
  /// @param scores (tokens, V)
  /// @param targets (tokens)
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
    // Nothing reads the logarithms after this, so they become the gradient.
    torch::Tensor d_scores = saved[0].exp_().mul_(scale);
    d_scores.scatter_add_(1, saved[1], (-scale).expand_as(saved[1]));
    return {d_scores.to(context->saved_data["type"].toScalarType()), {}};
  }
};

}  // namespace

torch::Tensor vocab_parallel_embedding(const torch::Tensor& tokens, const torch::Tensor& table,
                                       const TensorRanks& group) {
  if (group.size() == 1)
    return torch::embedding(table, tokens);
  const LocalRows local(tokens, table.size(0), group.rank());
  const torch::Tensor rows = torch::embedding(table, local.row);
  return sum_of_ranks(rows.masked_fill(local.elsewhere.unsqueeze(2), 0), group);
}

torch::Tensor most_likely_tokens(const torch::Tensor& scores, const Communicator& group) {
  if (group.size() == 1)
    return scores.argmax(1, /*keepdim=*/true);
  const auto [highest, column] = scores.max(1);
  const torch::Tensor token = column + scores.size(1) * group.rank();
  const torch::Tensor own = torch::stack({highest.to(torch::kDouble), token.to(torch::kDouble)});
  const torch::Tensor all = Communicator(group).all_gather(own);             // (T, 2, B)
  const torch::Tensor owner = all.select(1, 0).argmax(0, /*keepdim=*/true);  // (1, B)
  return all.select(1, 1).gather(0, owner).t().to(torch::kLong);
}

torch::Tensor next_token_loss(const torch::Tensor& scores, const torch::Tensor& tokens,
                              const Communicator& group) {
  const torch::Tensor rows = scores.reshape({-1, scores.size(2)});
  const torch::Tensor targets = tokens.narrow(1, 1, scores.size(1)).reshape({-1});
  return group.size() == 1 ? CrossEntropy::apply(rows, targets)
                           : VocabParallelCrossEntropy::apply(rows, targets, group);
}

}  // namespace bench::transformer
