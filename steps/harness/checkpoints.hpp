#pragma once

#include "harness/loop.hpp"
#include "harness/session.hpp"
#include "harness/trainer.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bench::steps {

struct CheckpointOptions {
  std::string save;           ///< Folder; empty: none are saved.
  std::string load;           ///< Folder; empty: training starts from the beginning.
  std::int64_t interval = 0;  ///< Measured steps; 0: one at the end.
};

void add_checkpoint_options(CLI::App& app, CheckpointOptions& options);

/// Settings of a run, as lines `name=value`.
struct CheckpointSettings {
  std::string program;       ///< Whose checkpoints they are.
  std::string must_match;    ///< A run that goes on from a checkpoint must have the same.
  std::string layout;        ///< How ranks share the model. It may have another.
  std::string should_match;  ///< It should have the same; otherwise it trains differently.
};

/// Checkpoints of a run in folders that all ranks see:
///
///     FOLDER/latest                             the name of the last whole one, or `none`
///     FOLDER/iteration_00000100/rank_00003.pt   of each rank
///
/// `latest` changes when all ranks have their file on the disk, so that a run that is killed leaves
/// the checkpoint before whole.
class Checkpoints {
 public:
  /// @param session must outlive this object
  /// @throws UsageError if there is nothing to load, or the folder to save to has the checkpoints
  /// of
  ///         another run or cannot be made, or one of them has lost its `latest`
  Checkpoints(Session& session, const CheckpointOptions& options,
              const CheckpointSettings& settings);

  /// Goes on from the last checkpoint of `--load`, if there is one: the folder that is saved to may
  /// have none yet. Warns of settings that make it train differently. Where the ranks shared the
  /// model in another way, each reads the whole checkpoint.
  /// @throws UsageError if it is of another program, or of another model or other samples
  void load(Trainer& trainer);

  /// Saves after each interval of a loop, if the run does.
  void save_during(Loop& loop, const Trainer& trainer);
  /// Saves the end of a loop, if the run saves at all and has not diverged.
  void save_last(const Loop& loop, const Trainer& trainer);

  /// Prints `checkpoint_load_s=`, `checkpoint_save_mean_s=` and so on, where there were any.
  void log_results() const;

 private:
  void check_settings(const SavedState& saved) const;
  void write(const Trainer& trainer);

  Session& session_;
  CheckpointOptions options_;
  CheckpointSettings settings_;
  std::int64_t last_saved_ = -1;  ///< Step.
  std::vector<double> save_s_;
  double load_s_ = 0;
  std::int64_t loaded_step_ = -1;
  std::string loaded_layout_;  ///< If it is not this run's.
  double bytes_ = 0;           ///< Of the last checkpoint, all ranks.
};

}  // namespace bench::steps
