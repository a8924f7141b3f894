#pragma once

#include "harness/communicator.hpp"
#include "harness/ranks.hpp"
#include "vision/data.hpp"
#include "vision/options.hpp"

#include <memory>
#include <optional>

namespace bench::vision {

/// How long the slowest rank waited for its copy of the data set, and what all of them copied.
struct Staging {
  double seconds;
  std::int64_t bytes;
};

/// The images of a run: synthetic ones, or a data set, which is copied first where the options say
/// so.
class Dataset {
 public:
  /// All ranks must call it.
  /// @throws steps::UsageError, steps::DataError, std::runtime_error as `steps::stage` and
  ///         `steps::open_images`
  Dataset(const Options& options, const steps::Ranks& ranks, steps::Communicator& communicator,
          const torch::Device& device);

  /// From the first one of that part on. Synthetic images of the device are drawn from LibTorch's
  /// random numbers.
  std::unique_ptr<Images> images(steps::ImagePart part) const;

  /// Images of an epoch; synthetic ones count as ImageNet's.
  std::int64_t epoch_images() const;

  /// Prints what the images are and how they are loaded.
  void log() const;

  /// Prints how fast the threads were.
  /// @param steps that were done, warm-up included
  void log_work(const Images& images, std::int64_t steps) const;

 private:
  void stage(steps::Communicator& communicator);
  void open();

  Options options_;
  torch::Device device_;
  int rank_;
  int threads_;
  std::string folder_;  ///< Where the data set is read.
  std::optional<Staging> staging_;
  double open_s_ = 0;
  std::unique_ptr<steps::ImageSource> training_;    ///< Empty without a data set.
  std::unique_ptr<steps::ImageSource> validation_;  ///< Empty unless it is evaluated on.
};

/// Threads that load images, where nobody says how many: on a GPU the host has nothing else to do;
/// on the CPU an image takes the network far longer than the loader.
/// @param cpus that this process may use
/// @param node_cpus of the node: if those are the same, its ranks share them
int default_loader_threads(int cpus, int node_cpus, int ranks_on_node, bool on_gpu);

}  // namespace bench::vision
