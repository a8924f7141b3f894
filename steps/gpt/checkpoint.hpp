#pragma once

#include "gpt/options.hpp"
#include "gpt/training.hpp"
#include "harness/communicator.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bench::gpt {

/// Checkpoints of a run in folders that all ranks see:
///
///     FOLDER/latest                             the name of the last whole one, or `none`
///     FOLDER/iteration_00000100/rank_00003.pt   of each rank
///
/// `latest` changes when all ranks have their file on the disk, so that a run that is killed leaves
/// the checkpoint before whole.
class Checkpoints {
 public:
  /// @param all ranks; must outlive this object
  /// @throws steps::UsageError if there is nothing to load, or the folder to save to has the
  ///         checkpoints of another run or cannot be made, or one of them has lost its `latest`
  Checkpoints(const Options& options, const torch::Device& device, steps::Communicator& all);

  /// Goes on from the last checkpoint of `--load`, if there is one: the folder that is saved to may
  /// have none yet.
  /// Warns of options that make it go on in another way.
  /// @throws steps::UsageError if it is of another model, layout, number of ranks or samples
  void load(Training& training);

  /// Saves if this many measured iterations are the end of an interval.
  void save_if_due(const Training& training, std::int64_t measured);
  /// Saves what has not been saved.
  void save_last(const Training& training);

  /// Prints `checkpoint_load_s=`, `checkpoint_save_mean_s=` and so on, where there were any.
  void log_results() const;

 private:
  void save(const Training& training);

  CheckpointOptions options_;
  torch::Device device_;
  std::string must_match_;    ///< Settings that a continued run must share.
  std::string should_match_;  ///< Settings that it should share.
  steps::Communicator& all_;
  std::int64_t last_saved_ = -1;  ///< Iteration.
  std::vector<double> save_s_;
  double load_s_ = 0;
  std::int64_t loaded_iteration_ = -1;
  double bytes_ = 0;  ///< Of the last checkpoint, all ranks.
};

}  // namespace bench::gpt
