#include "vision/classifier.hpp"

#include "harness/batch.hpp"
#include "vision/architecture.hpp"
#include "vision/network/model.hpp"
#include "vision/options.hpp"

#include <cstdint>

namespace bench::vision {
namespace {

/// For `cross_entropy_loss`: images without a label, of which there are none.
constexpr std::int64_t no_label = -100;

}  // namespace

Network build_model(const Options& options, const Architecture& architecture,
                    const torch::Device& device) {
  Network model(architecture.layers, Architecture::input(options.image_size));
  model->to(device);
  for (torch::Tensor& weight : model->parameters())
    if (weight.dim() == 4)
      weight.set_data(weight.contiguous(memory_format(options, device)));
  return model;
}

Scored score(Network& model, const steps::Batch& batch, double label_smoothing) {
  const torch::Tensor scores = model->forward(batch["image"]).to(torch::kFloat);
  return {torch::cross_entropy_loss(scores, batch["label"], {}, at::Reduction::Mean, no_label,
                                    label_smoothing),
          scores};
}

}  // namespace bench::vision
