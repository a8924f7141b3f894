#include "gpt/inference.hpp"

#include "gpt/model.hpp"
#include "gpt/report.hpp"
#include "transformer/grid.hpp"
#include "transformer/parallel_training.hpp"

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
  const transformer::InferenceCost cost = inference_cost(options.architecture);
  log_description(options);
  transformer::check_inference_memory(session, options.inference, options, cost);
  transformer::Grid grid(session.ranks(), options.layout);
  const torch::TensorOptions tensors = transformer::model_tensors(options, session.device());
  Gpt model(options.architecture, model_options(options, tensors, grid));
  session.load_weights(*model);
  return transformer::run_inference(session, grid, options, options.inference, model.ptr(), cost);
}

}  // namespace bench::gpt
