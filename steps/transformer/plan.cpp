#include "transformer/plan.hpp"

#include "harness/arguments.hpp"
#include "harness/device.hpp"
#include "harness/errors.hpp"
#include "harness/log.hpp"
#include "harness/precision.hpp"
#include "transformer/attention.hpp"
#include "transformer/grid.hpp"
#include "transformer/training_options.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::transformer {
namespace {

using steps::log_value;

constexpr double bytes_per_gib = 1024.0 * 1024 * 1024;
constexpr std::int64_t most_devices = 4096;
constexpr double fp32_bytes = 4;

/// For formulas.
double real(std::int64_t number) {
  return static_cast<double>(number);
}

/// Of the layers of a stage, and the tables on the stages at the ends.
double parameters_per_device(const PlannedModel& model, const Layout& layout) {
  const double layers = real(model.sizes.layers) / real(layout.pipeline);
  const double tables = (layout.pipeline == 1 ? model.tables : 1) *
                        real(model.sizes.vocabulary * model.sizes.hidden) / real(layout.tensor);
  return layers * (model.split_parameters / real(layout.tensor) + model.whole_parameters) + tables +
         model.end_parameters;
}

/// Of a micro-batch in one layer.
double bytes_per_layer(const PlannedModel& model, const TrainingOptions& options,
                       const Layout& layout) {
  const double tokens = real(options.micro_batch * model.sizes.sequence);
  double total = tokens * model.kept_bytes_per_token;
  if (parse_attention(options.attention) == AttentionKind::plain) {
    // Weights of the softmax and what the product with V takes; with dropout a mask and its result.
    const double weights = tokens * real(model.sizes.heads) * real(model.sizes.sequence);
    total += weights * (fp32_bytes + (is_half(options) ? 2 : 0));
    if (model.has_attention_dropout)
      total += weights * (fp32_bytes + 1);
  }
  return total / real(layout.tensor);
}

bool can_have(const PlannedModel& model, const Layout& layout) {
  return layout_error(model.sizes, layout).empty() &&
         (model.experts == 0 || (layout.pipeline == 1 && model.experts % layout.tensor == 0));
}

/// Of which a stage keeps activations; of the first stage, which keeps most.
double micro_batches_under_way(const TrainingOptions& options, const Layout& layout) {
  const std::int64_t given = options.global_batch / (options.micro_batch * layout.data);
  return real(given == 0 ? layout.pipeline : std::min(layout.pipeline, given));
}

double activation_bytes(const PlannedModel& model, const TrainingOptions& options,
                        const Layout& layout) {
  const double layers = real(model.sizes.layers) / real(layout.pipeline);
  const double under_way = micro_batches_under_way(options, layout);
  const double layer = bytes_per_layer(model, options, layout);
  if (options.recompute != "full")
    return under_way * layers * layer;
  const double input = real(options.micro_batch * model.sizes.sequence * model.sizes.hidden) *
                       (is_half(options) ? 2 : fp32_bytes) / real(layout.tensor);
  return under_way * layers * input + layer;
}

double loss_bytes(const PlannedModel& model, const TrainingOptions& options, const Layout& layout) {
  const double scores = real(options.micro_batch * model.sizes.sequence) *
                        real(model.sizes.vocabulary) / real(layout.tensor);
  // Scores and their exponentials, which become the gradient.
  return scores * (fp32_bytes + (is_half(options) ? 2 : fp32_bytes));
}

double device_bytes_of(const TrainingOptions& options) {
  if (options.plan.device_memory_gib > 0)
    return options.plan.device_memory_gib * bytes_per_gib;
  return real(steps::device_memory_bytes(steps::select_device(options.common.device)));
}

void log_memory(const std::string& name, const Memory& m) {
  log_value(name + "_weights_gib", m.weights / bytes_per_gib);
  log_value(name + "_gradients_gib", m.gradients / bytes_per_gib);
  log_value(name + "_optimizer_gib", m.optimizer / bytes_per_gib);
  log_value(name + "_activations_gib", m.activations / bytes_per_gib);
  log_value(name + "_loss_gib", m.loss / bytes_per_gib);
  log_value(name + "_total_gib", m.total() / bytes_per_gib);
}

}  // namespace

bool is_half(const TrainingOptions& options) {
  const steps::Precision precision = options.common.precision();
  return precision == steps::Precision::bf16 || precision == steps::Precision::fp16;
}

Memory memory(const PlannedModel& model, const TrainingOptions& options, const Layout& layout) {
  const double parameters = parameters_per_device(model, layout);
  const bool half = is_half(options);
  const double bytes = half ? 2 : fp32_bytes;
  return {.weights = parameters * bytes,
          .gradients = parameters * (bytes + fp32_bytes),
          .optimizer = parameters * (half ? 3 : 2) * fp32_bytes /
                       real(options.distributed_optimizer ? layout.data : 1),
          .activations = activation_bytes(model, options, layout),
          .loss = loss_bytes(model, options, layout)};
}

std::optional<Layout> smallest_layout(const PlannedModel& model, const TrainingOptions& options,
                                      double device_bytes) {
  std::optional<Layout> best;
  for (std::int64_t tensor = 1; tensor <= options.plan.devices_per_node; tensor *= 2)
    for (std::int64_t pipeline = 1; pipeline <= model.sizes.layers; ++pipeline) {
      const Layout layout{.tensor = tensor, .pipeline = pipeline};
      if (!can_have(model, layout) || layout.devices() > most_devices ||
          memory(model, options, layout).total() > device_bytes)
        continue;
      if (!best || layout.devices() <= best->devices())
        best = layout;
      break;  // more stages need more devices
    }
  return best;
}

void check_memory(const PlannedModel& model, const TrainingOptions& options,
                  const torch::Device& device, int processes) {
  const double needed = memory(model, options, options.layout).total();
  const double there = real(steps::device_memory_bytes(device, processes));
  if (needed > there)
    throw steps::OutOfMemory(
        fmt::format("a step needs {:.1f} GiB on each device, which has {:.1f} GiB",
                    needed / bytes_per_gib, there / bytes_per_gib),
        fmt::format("`{} --plan` with the same options says of what, and which layout fits; a "
                    "smaller --micro-batch-size needs less",
                    model.program));
}

void log_plan(const PlannedModel& model, const TrainingOptions& options) {
  log_value("model", model.name);
  log_value("trainable_parameters", model.parameters);
  log_value("precision", options.common.precision_name);
  log_value("micro_batch_size", options.micro_batch);
  log_value("global_batch_size", options.global_batch);
  log_value("recompute", options.recompute);
  log_memory("one_device", memory(model, options, {}));
  if (options.layout.devices() > 1)
    log_memory("this_layout", memory(model, options, options.layout));
  const double device_bytes = device_bytes_of(options);
  log_value("device_memory_gib", device_bytes / bytes_per_gib);
  const auto layout = smallest_layout(model, options, device_bytes);
  log_value("fits", layout ? "yes" : "no");
  if (!layout)
    return;
  log_value("devices", layout->devices());
  log_value("tensor_parallel", layout->tensor);
  log_value("pipeline_parallel", layout->pipeline);
  log_memory("per_device", memory(model, options, *layout));
}

}  // namespace bench::transformer
