#include "gpt/checkpoint_settings.hpp"

#include <string>

#include <fmt/core.h>

namespace bench::gpt {
namespace {

/// What samples the iterations have, as lines `name=value`.
std::string samples_of(const Options& options) {
  const std::string lines = fmt::format("global_batch={}\n", options.global_batch);
  if (options.data.path.empty())
    return lines + fmt::format("data=synthetic\nseed={}\n", options.common.seed);
  return lines + fmt::format("data=corpus\nsplit={}\ndata_seed={}\n", options.data.split,
                             options.data.seed);
}

/// Settings that a continued run must share with its checkpoint: lines `name=value`.
std::string must_match(const Options& options) {
  const Architecture& a = options.architecture;
  return fmt::format(
             "layers={}\nhidden={}\nheads={}\nsequence={}\nvocabulary={}\npositions={}\n"
             "precision={}\ntensor_parallel={}\npipeline_parallel={}\ndata_parallel={}\n"
             "distributed_optimizer={}\n",
             a.layers, a.hidden, a.heads, a.sequence, a.vocabulary, positions_name(a.positions),
             options.common.precision_name, options.layout.tensor, options.layout.pipeline,
             options.layout.data, options.distributed_optimizer) +
         samples_of(options);
}

/// Settings that it may change, but then differs from an uninterrupted run: lines `name=value`.
std::string should_match(const Options& options) {
  const Schedule& schedule = options.schedule;
  const steps::AdamW::Options& adamw = options.adamw;
  return fmt::format(
      "data_path={}\nmicro_batch={}\nattention_dropout={}\nhidden_dropout={}\nlr={}\nmin_lr={}\n"
      "lr_warmup_samples={}\nlr_decay_samples={}\nadam_beta1={}\nadam_beta2={}\nadam_eps={}\n"
      "weight_decay={}\nclip_grad={}\ngelu={}\n",
      options.data.path, options.micro_batch, options.attention_dropout, options.hidden_dropout,
      schedule.highest, schedule.lowest, schedule.warmup_samples, schedule.decay_samples,
      adamw.beta1, adamw.beta2, adamw.epsilon, adamw.weight_decay, options.clip_gradient,
      options.gelu);
}

}  // namespace

steps::CheckpointSettings checkpoint_settings(const Options& options) {
  return {
      .program = "gpt", .must_match = must_match(options), .should_match = should_match(options)};
}

}  // namespace bench::gpt
