#include "gpt/plan.hpp"

#include "harness/device.hpp"
#include "harness/log.hpp"
#include "harness/precision.hpp"
#include "harness/program.hpp"
#include "transformer/attention.hpp"

#include <algorithm>

namespace bench::gpt {
namespace {

using steps::log_value;
using transformer::AttentionKind;
using transformer::Layout;

constexpr double gib = 1024.0 * 1024 * 1024;
constexpr std::int64_t most_devices = 4096;
constexpr double fp32_bytes = 4;

bool is_half(const Options& options) {
  const steps::Precision precision = options.common.precision();
  return precision == steps::Precision::bf16 || precision == steps::Precision::fp16;
}

/// Of the layers of a stage, and the tables on the stages at the ends.
double parameters_per_device(const Architecture& a, const Layout& layout) {
  const double h = real(a.hidden);
  const double split = (12 * h * h + 7 * h) / real(layout.tensor);  // matrices, biases of the split
  const double whole = 6 * h;  // normalisations, biases behind the sums
  const double layers = real(a.layers) / real(layout.pipeline);
  const double tables = real(a.vocabulary) * h / real(layout.tensor) +
                        (a.positions == Positions::learned ? real(a.sequence) * h : 0) + 2 * h;
  return layers * (split + whole) + tables;
}

/// Of a micro-batch in one layer.
double bytes_per_layer(const Options& options, const Layout& layout) {
  const Architecture& a = options.architecture;
  const double bytes = is_half(options) ? 2 : fp32_bytes;
  const double tokens = real(options.micro_batch * a.sequence);
  const double per_width = a.positions == Positions::rotary ? 19 : 17;
  double total = tokens * real(a.hidden) * per_width * bytes;
  if (options.hidden_dropout > 0)
    total += 2 * tokens * real(a.hidden);
  if (transformer::parse_attention(options.attention) == AttentionKind::plain) {
    // Weights of the softmax and what the product with V takes; with dropout a mask and its result.
    const double weights = tokens * real(a.heads) * real(a.sequence);
    total += weights * (fp32_bytes + (is_half(options) ? bytes : 0));
    if (options.attention_dropout > 0)
      total += weights * (fp32_bytes + 1);
  }
  return total / real(layout.tensor);
}

/// Of which a stage keeps activations; of the first stage, which keeps most.
double micro_batches_under_way(const Options& options, const Layout& layout) {
  const std::int64_t given = options.global_batch / (options.micro_batch * layout.data);
  return real(given == 0 ? layout.pipeline : std::min(layout.pipeline, given));
}

double activation_bytes(const Options& options, const Layout& layout) {
  const Architecture& a = options.architecture;
  const double layers = real(a.layers) / real(layout.pipeline);
  const double under_way = micro_batches_under_way(options, layout);
  const double layer = bytes_per_layer(options, layout);
  if (options.recompute != "full")
    return under_way * layers * layer;
  const double input = real(options.micro_batch * a.sequence * a.hidden) *
                       (is_half(options) ? 2 : fp32_bytes) / real(layout.tensor);
  return under_way * layers * input + layer;
}

double loss_bytes(const Options& options, const Layout& layout) {
  const Architecture& a = options.architecture;
  const double scores =
      real(options.micro_batch * a.sequence) * real(a.vocabulary) / real(layout.tensor);
  // Scores and their exponentials, which become the gradient.
  return scores * (fp32_bytes + (is_half(options) ? 2 : fp32_bytes));
}

double device_bytes_of(const Options& options) {
  if (options.device_memory_gib > 0)
    return options.device_memory_gib * gib;
  return real(steps::device_memory_bytes(steps::select_device(options.common.device)));
}

void log_memory(const std::string& name, const Memory& m) {
  log_value(name + "_weights_gib", m.weights / gib);
  log_value(name + "_gradients_gib", m.gradients / gib);
  log_value(name + "_optimizer_gib", m.optimizer / gib);
  log_value(name + "_activations_gib", m.activations / gib);
  log_value(name + "_loss_gib", m.loss / gib);
  log_value(name + "_total_gib", m.total() / gib);
}

}  // namespace

Memory memory(const Options& options, const Layout& layout) {
  const double parameters = parameters_per_device(options.architecture, layout);
  const bool half = is_half(options);
  const double bytes = half ? 2 : fp32_bytes;
  return {.weights = parameters * bytes,
          .gradients = parameters * (bytes + fp32_bytes),
          .optimizer = parameters * (half ? 3 : 2) * fp32_bytes / real(layout.data),
          .activations = activation_bytes(options, layout),
          .loss = loss_bytes(options, layout)};
}

std::optional<Layout> smallest_layout(const Options& options, double device_bytes) {
  const Architecture& a = options.architecture;
  std::optional<Layout> best;
  for (std::int64_t tensor = 1; tensor <= options.devices_per_node; tensor *= 2)
    for (std::int64_t pipeline = 1; pipeline <= a.layers; ++pipeline) {
      const Layout layout{.tensor = tensor, .pipeline = pipeline};
      if (!transformer::layout_error(a.sizes(), layout).empty() ||
          layout.devices() > most_devices || memory(options, layout).total() > device_bytes)
        continue;
      if (!best || layout.devices() <= best->devices())
        best = layout;
      break;  // more stages need more devices
    }
  return best;
}

void check_memory(const Options& options, const torch::Device& device, int processes) {
  const double needed = memory(options, options.layout).total();
  const double there = real(steps::device_memory_bytes(device, processes));
  if (needed > there)
    throw steps::OutOfMemory(
        fmt::format("a step needs {:.1f} GiB on each device, which has {:.1f} GiB", needed / gib,
                    there / gib),
        "`gpt --plan` with the same options says of what, and which layout fits; a smaller "
        "--micro-batch-size needs less");
}

void log_plan(const Options& options) {
  log_value("model", options.architecture.name);
  log_value("trainable_parameters", Counts(options.architecture).parameters());
  log_value("precision", options.common.precision_name);
  log_value("micro_batch_size", options.micro_batch);
  log_value("global_batch_size", options.global_batch);
  log_value("recompute", options.recompute);
  log_memory("one_device", memory(options, {}));
  if (options.layout.devices() > 1)
    log_memory("this_layout", memory(options, options.layout));
  const double device_bytes = device_bytes_of(options);
  log_value("device_memory_gib", device_bytes / gib);
  const auto layout = smallest_layout(options, device_bytes);
  log_value("fits", layout ? "yes" : "no");
  if (!layout)
    return;
  log_value("devices", layout->devices());
  log_value("tensor_parallel", layout->tensor);
  log_value("pipeline_parallel", layout->pipeline);
  log_memory("per_device", memory(options, *layout));
}

}  // namespace bench::gpt
