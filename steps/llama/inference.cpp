#include "llama/inference.hpp"

#include "harness/session.hpp"
#include "llama/architecture.hpp"
#include "llama/model.hpp"
#include "llama/options.hpp"
#include "transformer/grid.hpp"
#include "transformer/inference.hpp"

namespace bench::llama {

transformer::InferenceCost inference_cost(const Architecture& architecture) {
  const Counts counts(architecture);
  return {.sizes = architecture.sizes(),
          .kinds = architecture.vocabulary,
          .parameters = counts.parameters(),
          .multiplied_parameters = counts.multiplied_parameters(),
          .macs_per_token = counts.layer_macs_per_token(),
          .experts = architecture.experts,
          .experts_per_token = architecture.experts_per_token,
          .parameters_per_expert = counts.parameters_per_expert()};
}

int infer(steps::Session& session, const Options& options) {
  log_description(options);
  return transformer::run_inference(
      session, options, options.inference, inference_cost(options.architecture),
      [&](const torch::TensorOptions& tensors, transformer::Grid& grid) {
        return Llama(options.architecture, model_options(options, tensors, grid)).ptr();
      });
}

}  // namespace bench::llama
