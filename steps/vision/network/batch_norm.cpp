#include "vision/network/batch_norm.hpp"

#include "vision/network/norm_over_ranks.hpp"

#include <algorithm>
#include <cmath>

namespace bench::vision {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Below this a second thread costs more than it brings.
constexpr std::int64_t elements_per_thread = 1 << 15;

// Within this many numbers floats are added, several side by side; their sums are added as doubles.
constexpr std::int64_t longest_run = 4096;

/// How (B, C, H, W) lies: a channel is B runs of H * W numbers.
class Runs {
 public:
  explicit Runs(const torch::Tensor& x)
      : images_(x.size(0)), channels_(x.size(1)), pixels_(x.size(2) * x.size(3)) {}

  std::int64_t per_channel() const { return images_ * pixels_; }

  /// Calls with each channel, on all threads.
  template <typename Call>
  void for_each_channel(Call&& call) const {
    const std::int64_t grain = elements_per_thread / std::max<std::int64_t>(per_channel(), 1) + 1;
    at::parallel_for(0, channels_, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t channel = begin; channel < end; ++channel)
        call(channel);
    });
  }

  /// Calls with where each run of a channel begins and ends, none longer than `longest_run`.
  template <typename Call>
  void for_each_run(std::int64_t channel, Call&& call) const {
    for (std::int64_t image = 0; image < images_; ++image) {
      const std::int64_t first = (image * channels_ + channel) * pixels_;
      for (std::int64_t i = 0; i < pixels_; i += longest_run)
        call(first + i, first + std::min(i + longest_run, pixels_));
    }
  }

 private:
  std::int64_t images_;
  std::int64_t channels_;
  std::int64_t pixels_;
};

/// The sum of what `term` gives for each place of a channel.
template <typename Term>
double sum(const Runs& runs, std::int64_t channel, Term&& term) {
  double all = 0;
  runs.for_each_run(channel, [&](std::int64_t begin, std::int64_t end) {
    float of_run = 0;
#pragma omp simd reduction(+ : of_run)
    for (std::int64_t i = begin; i < end; ++i)
      of_run += term(i);
    all += of_run;
  });
  return all;
}

struct GradientSums {
  double gradients = 0;
  double products = 0;  // of gradient and distance from the mean
};

GradientSums gradient_sums(const Runs& runs, const float* g, const float* x, std::int64_t channel,
                           float mean) {
  GradientSums all;
  runs.for_each_run(channel, [&](std::int64_t begin, std::int64_t end) {
    float gradients = 0;
    float products = 0;
#pragma omp simd reduction(+ : gradients, products)
    for (std::int64_t i = begin; i < end; ++i) {
      gradients += g[i];
      products += g[i] * (x[i] - mean);
    }
    all.gradients += gradients;
    all.products += products;
  });
  return all;
}

/// Of each channel.
struct Statistics {
  float* mean;
  float* inverse_deviation;  // 1 / sqrt(variance + epsilon)
  float* running_mean;
  float* running_variance;
};

void find_statistics(const Statistics& to, const Runs& runs, const float* x, std::int64_t c,
                     const Normalisation& options) {
  const auto n = static_cast<double>(runs.per_channel());
  const double mean = sum(runs, c, [=](std::int64_t i) { return x[i]; }) / n;
  const auto center = static_cast<float>(mean);
  to.mean[c] = center;
  const double squares =
      sum(runs, c, [=](std::int64_t i) { return (x[i] - center) * (x[i] - center); });
  to.inverse_deviation[c] = static_cast<float>(1 / std::sqrt(squares / n + options.epsilon));
  to.running_mean[c] += static_cast<float>(options.momentum * (mean - to.running_mean[c]));
  // The running variance is the unbiased one, as in LibTorch.
  to.running_variance[c] +=
      static_cast<float>(options.momentum * (squares / (n - 1) - to.running_variance[c]));
}

class NormaliseByChannel : public torch::autograd::Function<NormaliseByChannel> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight, const torch::Tensor& bias,
                               const torch::Tensor& running_mean,
                               const torch::Tensor& running_variance,
                               const Normalisation& options) {
    const Runs runs(x);
    torch::Tensor y = torch::empty_like(x);
    const torch::Tensor mean = torch::empty_like(weight);
    const torch::Tensor inverse_deviation = torch::empty_like(weight);
    const Statistics statistics{mean.data_ptr<float>(), inverse_deviation.data_ptr<float>(),
                                running_mean.data_ptr<float>(), running_variance.data_ptr<float>()};
    const float* const from = x.data_ptr<float>();
    const float* const factor = weight.data_ptr<float>();
    const float* const shift = bias.data_ptr<float>();
    float* const to = y.data_ptr<float>();
    runs.for_each_channel([=](std::int64_t c) {
      find_statistics(statistics, runs, from, c, options);
      const float mean_of_channel = statistics.mean[c];
      const float scale = factor[c] * statistics.inverse_deviation[c];
      runs.for_each_run(c, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
        for (std::int64_t i = begin; i < end; ++i)
          to[i] = (from[i] - mean_of_channel) * scale + shift[c];
      });
    });
    context->save_for_backward({x, weight, mean, inverse_deviation});
    return y;
  }

  // With n numbers in a channel, g their gradients and d = x - mean:
  //     dx = weight / deviation * (g - sum(g) / n - d * sum(g * d) / (n * deviation^2))
  // Source: Ioffe and Szegedy, Batch Normalization (arXiv:1502.03167), section 3.
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const torch::Tensor dy = gradients[0].contiguous();
    const torch::Tensor of_x = torch::empty_like(dy);
    const torch::Tensor of_weight = torch::empty_like(saved[1]);
    const torch::Tensor of_bias = torch::empty_like(saved[1]);
    const Runs runs(dy);
    const float* const x = saved[0].data_ptr<float>();
    const float* const factor = saved[1].data_ptr<float>();
    const float* const means = saved[2].data_ptr<float>();
    const float* const inverse_deviations = saved[3].data_ptr<float>();
    const float* const g = dy.data_ptr<float>();
    float* const dx = of_x.data_ptr<float>();
    float* const factor_gradient = of_weight.data_ptr<float>();
    float* const shift_gradient = of_bias.data_ptr<float>();
    runs.for_each_channel([=](std::int64_t c) {
      const float mean = means[c];
      const double inverse_deviation = inverse_deviations[c];
      const GradientSums sums = gradient_sums(runs, g, x, c, mean);
      factor_gradient[c] = static_cast<float>(sums.products * inverse_deviation);
      shift_gradient[c] = static_cast<float>(sums.gradients);

      const auto n = static_cast<double>(runs.per_channel());
      const auto scale = static_cast<float>(factor[c] * inverse_deviation);
      const auto offset = static_cast<float>(sums.gradients / n);
      const auto slope =
          static_cast<float>(sums.products * inverse_deviation * inverse_deviation / n);
      runs.for_each_run(c, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
        for (std::int64_t i = begin; i < end; ++i)
          dx[i] = scale * (g[i] - offset - (x[i] - mean) * slope);
      });
    });
    return {of_x, of_weight, of_bias, {}, {}, {}};
  }
};

}  // namespace

BatchNormImpl::BatchNormImpl(std::int64_t channels, const Normalisation& options)
    : weight(register_parameter("weight", torch::ones(channels))),
      bias(register_parameter("bias", torch::zeros(channels))),
      running_mean_(register_buffer("running_mean", torch::zeros(channels))),
      running_variance_(register_buffer("running_var", torch::ones(channels))),
      options_(options) {}

torch::Tensor BatchNormImpl::forward(const torch::Tensor& images) {
  if (is_training() && ranks_ && ranks_->size() > 1)
    return normalise_over_ranks(images, {weight, bias, running_mean_, running_variance_}, options_,
                                *ranks_);
  const bool has_variance = images.numel() > images.size(1);  // LibTorch says what is wrong
  if (is_training() && has_variance && images.is_cpu() && images.dim() == 4 &&
      images.is_contiguous() && images.scalar_type() == torch::kFloat)
    return NormaliseByChannel::apply(images, weight, bias, running_mean_, running_variance_,
                                     options_);
  namespace nn = torch::nn::functional;
  return nn::batch_norm(images, running_mean_, running_variance_,
                        nn::BatchNormFuncOptions()
                            .weight(weight)
                            .bias(bias)
                            .training(is_training())
                            .momentum(options_.momentum)
                            .eps(options_.epsilon));
}

}  // namespace bench::vision
