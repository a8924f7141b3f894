#include "vision/options.hpp"

#include "harness/program.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace bench::vision {

bool read_options(int argc, char** argv, Options& options) {
  CLI::App app("Trains a ResNet on synthetic images and reports how fast.", "vision");
  steps::add_common_options(app, options.common);
  steps::add_batch_size_option(app, options.common);
  app.add_option("--model", options.model, "Network, in its v1.5 form")
      ->check(CLI::IsMember(architecture_names()));
  app.add_option("--classes", options.classes, "Kinds of images")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 24));
  app.add_option("--image-size", options.image_size, "Side of the square images in pixels")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 14));
  app.add_option("--memory-format", options.memory_format,
                 "Order of images and weights in memory; auto: channels_last on a GPU")
      ->check(CLI::IsMember({"auto", "contiguous", "channels_last"}));
  app.add_option("--base-learning-rate", options.base_learning_rate,
                 "Learning rate for 256 images per step; scaled in proportion to --batch-size");
  app.add_option("--momentum", options.momentum, "Of SGD");
  app.add_option("--weight-decay", options.weight_decay, "L2 penalty on all parameters");
  return steps::parse_command_line(app, argc, argv);
}

void check_trainable(const Options& options, const Counts& counts) {
  if (options.common.batch_size == 1 && counts.final_size == 1)
    throw steps::UsageError(
        fmt::format("one image of side {} leaves one value per channel to normalise over",
                    options.image_size),
        "use --batch-size 2 or more, or an --image-size above 32");
}

torch::MemoryFormat memory_format(const Options& options, const torch::Device& device) {
  // Tensor cores want the channels together. On the CPU oneDNN reorders to its own format anyway.
  const bool channels_last = options.memory_format == "channels_last" ||
                             (options.memory_format == "auto" && device.is_cuda());
  return channels_last ? torch::MemoryFormat::ChannelsLast : torch::MemoryFormat::Contiguous;
}

}  // namespace bench::vision
