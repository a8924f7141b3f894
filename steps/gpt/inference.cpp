#include "gpt/inference.hpp"

#include "gpt/architecture.hpp"
#include "gpt/model.hpp"
#include "gpt/options.hpp"
#include "gpt/report.hpp"
#include "harness/session.hpp"
#include "transformer/grid.hpp"
#include "transformer/inference.hpp"

namespace bench::gpt {

transformer::InferenceCost inference_cost(const Architecture& architecture) {
  const Counts counts(architecture);
  return {.sizes = architecture.sizes(),
          .kinds = gpt2_tokens,
          .parameters = counts.parameters(),
          .multiplied_parameters = counts.multiplied_parameters(),
          .macs_per_token = counts.layer_macs_per_token()};
}

int infer(steps::Session& session, const Options& options) {
  log_description(options);
  return transformer::run_inference(
      session, options, options.inference, inference_cost(options.architecture),
      [&](const torch::TensorOptions& tensors, transformer::Grid& grid) {
        return Gpt(options.architecture, model_options(options, tensors, grid)).ptr();
      });
}

}  // namespace bench::gpt
