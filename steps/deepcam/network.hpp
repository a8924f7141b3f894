#pragma once

#include "harness/cost.hpp"
#include "harness/torch_all.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace bench::deepcam {

/// Fields of the climate model CAM5, in the order of the data set: TMQ, U850, V850, UBOT, VBOT,
/// QREFHT, PS, PSL, T200, T500, PRECT, TS, TREFHT, Z1000, Z200, ZBOT.
inline constexpr std::int64_t channel_count = 16;

/// Classes of a grid point.
namespace label {
inline constexpr std::int64_t background = 0;
inline constexpr std::int64_t tropical_cyclone = 1;
inline constexpr std::int64_t atmospheric_river = 2;
inline constexpr std::int64_t count = 3;
}  // namespace label

/// Smallest and largest value of each channel in the training data.
struct ValueRange {
  std::array<float, channel_count> smallest;
  std::array<float, channel_count> largest;
};

/// A depthwise convolution with a 3x3 kernel, then a 1x1 convolution of all channels. No bias.
struct Separable {
  std::int64_t in;
  std::int64_t out;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  bool normalised = true;  ///< A batch normalisation follows.
};

/// A residual block of separable convolutions. There is a ReLU between two that are normalised.
/// Where the shape changes, the input is added through a 1x1 convolution and a normalisation.
struct Block {
  std::vector<Separable> layers;
  bool relu = true;  ///< Behind the sum.

  std::int64_t in() const { return layers.front().in; }
  std::int64_t out() const { return layers.back().out; }
  std::int64_t stride() const { return layers.back().stride; }
  bool changes_shape() const { return in() != out() || stride() != 1; }
};

/// Sizes of the network of MLPerf HPC's DeepCAM: DeepLabv3+ (Chen et al., arXiv:1802.02611) on a
/// modified aligned Xception, as in its reference implementation, github.com/mlcommons/hpc. The
/// image is halved four times.
///
/// @param divisor of all numbers of channels but those of the input and the classes: 1, 2, 4 or 8.
///        Other networks than the published one are for tests.
struct Architecture {
  explicit Architecture(std::int64_t divisor = 1);

  std::vector<std::int64_t> entry;  ///< Channels of two 3x3 convolutions; the first has stride 2.
  std::vector<Block> blocks;        ///< The first has the low-level features.
  std::vector<Separable> exit;      ///< Each normalised, with a ReLU.
  std::vector<std::int64_t> rates;  ///< Dilations of the parallel convolutions; 1: of kernel 1x1.
  std::int64_t context;             ///< Channels of each of them, and of the decoder.
  std::int64_t low_level;           ///< Channels to which the low-level features are reduced.
};

/// Divides height and width of an image.
inline constexpr std::int64_t size_divisor = 16;

struct ConvolutionSizes {
  std::int64_t in;
  std::int64_t out;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
};

/// A convolution, a batch normalisation and a ReLU: (B, in, H, W) -> (B, out, H / stride, ...).
class ConvolutionReluImpl : public torch::nn::Module {
 public:
  explicit ConvolutionReluImpl(const ConvolutionSizes& sizes);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::nn::Conv2d convolution_;
  torch::nn::BatchNorm2d norm_;
};
TORCH_MODULE(ConvolutionRelu);

/// A transposed convolution, a batch normalisation and a ReLU:
/// (B, in, H, W) -> (B, out, 2H, 2W).
class DoublingReluImpl : public torch::nn::Module {
 public:
  DoublingReluImpl(std::int64_t in, std::int64_t out);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::nn::ConvTranspose2d convolution_;
  torch::nn::BatchNorm2d norm_;
};
TORCH_MODULE(DoublingRelu);

/// A separable convolution, and its normalisation if it has one:
/// (B, in, H, W) -> (B, out, H / stride, W / stride).
class SeparableLayerImpl : public torch::nn::Module {
 public:
  explicit SeparableLayerImpl(const Separable& sizes);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::nn::Conv2d depthwise_;
  torch::nn::Conv2d pointwise_;
  torch::nn::BatchNorm2d norm_{nullptr};
};
TORCH_MODULE(SeparableLayer);

/// A residual block: (B, in, H, W) -> (B, out, H / stride, W / stride).
class ResidualBlockImpl : public torch::nn::Module {
 public:
  explicit ResidualBlockImpl(const Block& block);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  struct Step {
    SeparableLayer layer;
    bool relu;  ///< Behind it.
  };

  std::vector<Step> steps_;
  torch::nn::Conv2d shortcut_{nullptr};
  torch::nn::BatchNorm2d shortcut_norm_{nullptr};
  bool relu_;
};
TORCH_MODULE(ResidualBlock);

/// Xception: (B, 16, H, W) -> (B, 2048, H/16, W/16), and the low-level features (B, 128, H/4, W/4).
class XceptionImpl : public torch::nn::Module {
 public:
  explicit XceptionImpl(const Architecture& architecture);

  struct Features {
    torch::Tensor high;
    torch::Tensor low;
  };
  Features forward(torch::Tensor x);

 private:
  std::vector<ConvolutionRelu> entry_;
  std::vector<ResidualBlock> blocks_;
  std::vector<SeparableLayer> exit_;
};
TORCH_MODULE(Xception);

/// Atrous spatial pyramid pooling: the surroundings of each point at several distances, and the
/// whole image. (B, 2048, h, w) -> (B, 256, h, w).
class ContextImpl : public torch::nn::Module {
 public:
  explicit ContextImpl(const Architecture& architecture);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  std::vector<ConvolutionRelu> branches_;
  torch::nn::Conv2d image_;                  ///< Of the mean over the image.
  torch::Tensor image_scale_, image_shift_;  // (256, 1, 1)
  ConvolutionRelu join_;
};
TORCH_MODULE(Context);

/// (B, 256, H/16, W/16), (B, 48, H/4, W/4) -> (B, 3, H, W).
class DecoderImpl : public torch::nn::Module {
 public:
  explicit DecoderImpl(const Architecture& architecture);
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& low);

 private:
  DoublingRelu first_, second_;
  ConvolutionRelu join_, smooth_;
  torch::nn::Conv2d mix_;
  DoublingRelu third_;
  torch::nn::ConvTranspose2d classify_;
};
TORCH_MODULE(Decoder);

/// The network of MLPerf HPC's DeepCAM, which finds extreme weather in fields of a climate model:
/// (B, 16, H, W) -> scores of the classes (B, 3, H, W).
///
/// Sources: Kurth et al., Exascale Deep Learning for Climate Analytics (arXiv:1810.01993), and
/// those of `Architecture`.
class DeepLabImpl : public torch::nn::Module {
 public:
  explicit DeepLabImpl(const Architecture& architecture = Architecture());

  /// Inputs are mapped to 0 to 1. By default they already are.
  void set_value_range(const ValueRange& range);
  /// Gives the kernels channels-last memory, as tensor cores want it.
  void use_channels_last();

  /// @param x H and W are multiples of `size_divisor`
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::Tensor smallest_, factor_;  // (16, 1, 1)
  Xception xception_;
  Context context_;
  ConvolutionRelu low_level_;
  Decoder decoder_;
};
TORCH_MODULE(DeepLab);

/// Of `DeepLab` on images of that size, multiples of `size_divisor`.
steps::Cost cost(std::int64_t height, std::int64_t width,
                 const Architecture& architecture = Architecture());

/// Weights of the classes: their frequencies in the training data to the power of -1/8, (3).
/// Source: MLPerf HPC's reference implementation, github.com/mlcommons/hpc, deepcam/train.py.
torch::Tensor class_weights(const torch::TensorOptions& options);

/// Mean over the grid points of the weighted cross entropy of each sample: (B). The loss is the
/// mean over the samples: it is not divided by the sum of the weights.
/// @param scores (B, 3, H, W), converted to the precision of the weights
/// @param labels int64 (B, H, W)
torch::Tensor cross_entropies(const torch::Tensor& scores, const torch::Tensor& labels,
                              const torch::Tensor& weights);

/// Intersection over union of each sample, the mean over the classes: (B), fp64. A class that is
/// neither in the labels nor predicted counts 1. The mean over a validation part is MLPerf HPC's
/// `eval_accuracy`.
/// @param scores (B, 3, H, W); the class with the highest is predicted
/// @param labels int64 (B, H, W)
torch::Tensor intersections_over_unions(const torch::Tensor& scores, const torch::Tensor& labels);

}  // namespace bench::deepcam
