#pragma once

#include "deepcam/architecture.hpp"
#include "deepcam/layers.hpp"
#include "deepcam/sample.hpp"
#include "deepcam/value_range.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <vector>

namespace bench::deepcam {

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

}  // namespace bench::deepcam
