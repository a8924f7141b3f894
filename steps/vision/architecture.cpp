#include "vision/architecture.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace bench::vision {
namespace {

constexpr std::int64_t stem_channels = 64;

struct Kind {
  const char* name;
  bool bottleneck;
  std::array<std::int64_t, 4> blocks_per_stage;
};

constexpr Kind kinds[] = {
    {"resnet18", false, {2, 2, 2, 2}},
    {"resnet34", false, {3, 4, 6, 3}},
    {"resnet50", true, {3, 4, 6, 3}},
};

/// Two 3x3 convolutions, or 1x1, 3x3 and 1x1 with four times the width behind the last.
Block block(bool bottleneck, std::int64_t in, std::int64_t width, std::int64_t stride) {
  const std::int64_t out = bottleneck ? 4 * width : width;
  Block result;
  if (bottleneck)
    result.path = {{in, width, 1, 1}, {width, width, 3, stride}, {width, out, 1, 1}};
  else
    result.path = {{in, width, 3, stride}, {width, out, 3, 1}};
  if (in != out || stride != 1)
    result.shortcut = Convolution{in, out, 1, stride};
  return result;
}

/// Adds one convolution with its normalisation (a weight, a bias, a running mean and a running
/// variance per channel). Returns the side of its output.
std::int64_t add(Counts& counts, const Convolution& c, std::int64_t input_size) {
  const std::int64_t output_size = c.output_size(input_size);
  const std::int64_t weights = c.in_channels * c.out_channels * c.kernel * c.kernel;
  counts.trainable_parameters += weights + 2 * c.out_channels;
  counts.non_trainable_parameters += 2 * c.out_channels;
  counts.forward_macs_per_sample += weights * output_size * output_size;
  return output_size;
}

}  // namespace

const std::vector<std::string>& architecture_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Kind& kind : kinds)
      result.emplace_back(kind.name);
    return result;
  }();
  return names;
}

Architecture resnet(const std::string& name, std::int64_t classes) {
  const auto* kind = std::find_if(std::begin(kinds), std::end(kinds),
                                  [&](const Kind& known) { return known.name == name; });
  if (kind == std::end(kinds))
    throw std::invalid_argument("unknown model '" + name + "'");
  Architecture result{name, {Architecture::input_channels, stem_channels, 7, 2}, {}, 0, classes};
  std::int64_t in = stem_channels;
  std::int64_t width = stem_channels;
  for (std::size_t stage = 0; stage < kind->blocks_per_stage.size(); ++stage, width *= 2)
    for (std::int64_t index = 0; index < kind->blocks_per_stage[stage]; ++index) {
      const std::int64_t stride = stage > 0 && index == 0 ? 2 : 1;
      result.blocks.push_back(block(kind->bottleneck, in, width, stride));
      in = result.blocks.back().path.back().out_channels;
    }
  result.features = in;
  return result;
}

Counts count(const Architecture& architecture, std::int64_t image_size) {
  const Convolution pool{0, 0, Architecture::pool_kernel, Architecture::pool_stride};
  Counts counts;
  std::int64_t size = pool.output_size(add(counts, architecture.stem, image_size));
  for (const Block& block : architecture.blocks) {
    if (block.shortcut)
      add(counts, *block.shortcut, size);
    for (const Convolution& convolution : block.path)
      size = add(counts, convolution, size);
  }
  const std::int64_t classifier_weights = architecture.features * architecture.classes;
  counts.trainable_parameters += classifier_weights + architecture.classes;
  counts.forward_macs_per_sample += classifier_weights;
  counts.input_bytes_per_sample = Architecture::input_channels * image_size * image_size *
                                  static_cast<std::int64_t>(sizeof(float));
  counts.final_size = size;
  return counts;
}

}  // namespace bench::vision
