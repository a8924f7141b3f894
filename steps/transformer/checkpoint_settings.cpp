#include "transformer/checkpoint_settings.hpp"

#include "harness/adamw.hpp"
#include "harness/checkpoints.hpp"
#include "transformer/training_options.hpp"

#include <string>

#include <fmt/core.h>

namespace bench::transformer {
namespace {

/// What samples the iterations have, as lines `name=value`.
std::string samples_of(const TrainingOptions& options) {
  const std::string lines = fmt::format("global_batch={}\n", options.global_batch);
  if (options.data.path.empty())
    return lines + fmt::format("data=synthetic\nseed={}\n", options.common.seed);
  return lines + fmt::format("data=corpus\nsplit={}\ndata_seed={}\n", options.data.split,
                             options.data.seed);
}

std::string layout_of(const TrainingOptions& options) {
  return fmt::format(
      "tensor_parallel={}\npipeline_parallel={}\ndata_parallel={}\n"
      "distributed_optimizer={}\n",
      options.layout.tensor, options.layout.pipeline, options.layout.data,
      options.distributed_optimizer);
}

std::string training_of(const TrainingOptions& options) {
  const steps::AdamW::Options& adamw = options.adamw;
  return fmt::format(
      "data_path={}\nmicro_batch={}\nlr={}\nmin_lr={}\nlr_warmup_samples={}\n"
      "lr_decay_samples={}\nadam_beta1={}\nadam_beta2={}\nadam_eps={}\nweight_decay={}\n"
      "clip_grad={}\n",
      options.data.path, options.micro_batch, options.highest_learning_rate,
      options.lowest_learning_rate, options.lr_warmup_samples, options.lr_decay_samples,
      adamw.beta1, adamw.beta2, adamw.epsilon, adamw.weight_decay, options.clip_gradient);
}

}  // namespace

steps::CheckpointSettings checkpoint_settings(const TrainingOptions& options,
                                              const steps::CheckpointSettings& own) {
  return {.program = own.program,
          .must_match = own.must_match +
                        fmt::format("precision={}\n", options.common.precision_name) +
                        samples_of(options),
          .layout = layout_of(options),
          .should_match = training_of(options) + own.should_match};
}

}  // namespace bench::transformer
