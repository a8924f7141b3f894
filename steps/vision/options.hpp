#pragma once

#include "data/image_source.hpp"
#include "harness/arguments.hpp"
#include "harness/batches.hpp"
#include "harness/communicator.hpp"
#include "harness/loader_options.hpp"
#include "harness/ranks.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/session.hpp"
#include "harness/torch_all.hpp"
#include "vision/network/tables.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench::vision {

/// Where the images come from.
struct DataOptions {
  std::string path;                          ///< Folder of a data set; empty: synthetic images.
  std::string format_name = "auto";          ///< Of the data set.
  std::optional<steps::ImageFormat> format;  ///< Filled in by `find_dataset`.
  std::string stage_to;                      ///< Empty: the data set is read where it is.
  std::string first_label_name = "auto";
  steps::LoaderOptions loader{.synthetic = "device"};

  bool has_loader() const { return !path.empty() || loader.synthetic == "host"; }
};

struct Options {
  steps::CommonArguments common;        ///< `batch_size` is that of one rank.
  int ranks = 1;                        ///< Which train copies of one model.
  std::int64_t given_global_batch = 0;  ///< Instead of `batch_size`, where it is not 0.
  std::string model = "resnet50";
  std::int64_t classes = 1000;
  std::int64_t image_size = 0;  ///< Filled in by `read_options` where the user names none.
  std::string memory_format = "auto";
  double base_learning_rate = 0.1;
  double given_learning_rate = -1;  ///< Instead of it, the same for every batch; below 0: none.
  double lr_warmup_epochs = 0;
  std::vector<double> lr_decay_epochs;
  double momentum = 0.9;
  double weight_decay = 1e-4;
  double label_smoothing = 0;
  bool cuda_graph = false;         ///< Record a step, and replay it.
  std::int64_t eval_steps = 0;     ///< Batches of an evaluation; 0: none.
  std::int64_t eval_interval = 0;  ///< Steps between evaluations; 0: one after the training.
  std::int64_t eval_epochs = 0;    ///< In place of it, until `set_epochs` has filled that in.
  std::string log_format = "tf_cnn";
  DataOptions data;

  /// Whether the log shows, beside times and losses, how many answers were right.
  bool log_has_accuracy() const { return log_format == "torch"; }

  /// The highest rate: that for a batch of 256 images, scaled in proportion to the batch, unless
  /// one was given for every batch.
  /// Source: Goyal et al., Accurate, Large Minibatch SGD (arXiv:1706.02677), section 2.1.
  double learning_rate() const {
    return given_learning_rate >= 0
               ? given_learning_rate
               : base_learning_rate * static_cast<double>(global_batch()) / 256;
  }

  /// Over the epochs trained on.
  steps::RateSchedule schedule() const {
    return {.highest = learning_rate(),
            .warmup = lr_warmup_epochs,
            .shape = steps::RateSchedule::Shape::step,
            .milestones = lr_decay_epochs};
  }

  /// Images per step of all ranks.
  std::int64_t global_batch() const { return common.batch_size * ranks; }
  /// Images that a rank passes at a time.
  std::int64_t micro_batch() const { return common.batch_size / common.micro_batches; }

  /// The score that stands for the first class of a data set. Of 1001 the one before is the
  /// background's, as tf_cnn_benchmarks has it, and no image's.
  std::int64_t first_label() const {
    if (data.first_label_name == "auto")
      return classes == 1001 ? 1 : 0;
    return data.first_label_name == "1" ? 1 : 0;
  }
};

/// Reads the command line; the size of the images is by default that of the network. Returns false
/// if it asked for help, which then is printed.
/// @throws steps::UsageError if it is wrong
bool read_options(steps::Session& session, int argc, char** argv, Options& options);

/// Turns epochs into steps, and prints them, if the options have any.
/// @param samples_per_epoch of the training part; empty: it has no end
/// @throws steps::UsageError if epochs have no length
void set_epochs(Options& options, std::optional<std::uint64_t> samples_per_epoch);

/// Looks for the data set, if the options name one, and for the part to evaluate on, if they ask
/// for it.
/// @throws steps::UsageError if there is none
void find_dataset(Options& options);

/// Divides the global batch among the ranks, where it was given, and that of a rank into
/// micro-batches.
/// @throws steps::UsageError if it cannot be
void set_ranks(Options& options, int ranks);

/// @throws steps::UsageError if the images are too small for the network
void check_image_size(const Options& options, const Architecture& architecture);

/// @throws steps::UsageError if the network cannot be trained on these images: a normalisation
///         over a single value has no variance
void check_trainable(const Options& options, const Architecture& architecture);

/// @throws steps::UsageError if a step is to be recorded and cannot be
void check_cuda_graph(const Options& options, const torch::Device& device);

torch::MemoryFormat memory_format(const Options& options, const torch::Device& device);

/// Pixels (B, 3, S, S) on the scale 0 to 255, drawn from N(127, 60) cut at two standard
/// deviations, as tf_cnn_benchmarks draws its synthetic images.
torch::Tensor synthetic_pixels(std::int64_t batch_size, std::int64_t image_size,
                               const torch::Device& device);

/// A batch of such images and uniform labels, made on the device from LibTorch's random numbers:
/// `image`, fp32 (B, 3, S, S), and `label`, int64 (B).
///
/// Pixels are brought to mean 0 and deviation 1 with the statistics of ImageNet, as real images
/// would be.
steps::Batch synthetic_batch(const Options& options, const torch::Device& device);

/// The images of a run: synthetic ones, or a data set, which is copied first where the options say
/// so.
class Dataset {
 public:
  /// All ranks must call it.
  /// @throws steps::UsageError, steps::DataError, std::runtime_error as `steps::stage` and
  ///         `steps::open_images`
  Dataset(const Options& options, const steps::Ranks& ranks, steps::Communicator& communicator,
          const torch::Device& device);

  /// Batches of `image`, fp32 (B, 3, S, S), and `label`, int64 (B), from the first image of that
  /// part on. Synthetic images of the device are drawn from LibTorch's random numbers.
  std::unique_ptr<steps::Batches> batches(steps::ImagePart part) const;

  /// Images of an epoch; empty for synthetic ones.
  std::optional<std::uint64_t> samples_per_epoch() const;
  /// Images of an epoch of the learning rate: `--samples-per-epoch`, or these; synthetic ones count
  /// as ImageNet's.
  std::int64_t epoch_images() const;

  /// Prints what the images are and how they are loaded.
  void log() const;

  /// Prints how fast the threads were.
  /// @param steps that were done, warm-up included
  void log_work(const steps::Batches& batches, std::int64_t steps) const;

 private:
  void stage(steps::Communicator& communicator);
  void open();

  Options options_;
  torch::Device device_;
  int rank_;
  int threads_;
  std::string folder_;  ///< Where the data set is read.
  std::optional<steps::Staging> staging_;
  double open_s_ = 0;
  std::unique_ptr<steps::ImageSource> training_;    ///< Empty without a data set.
  std::unique_ptr<steps::ImageSource> validation_;  ///< Empty unless it is evaluated on.
};

}  // namespace bench::vision
