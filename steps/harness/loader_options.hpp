#pragma once

#include "data/fields.hpp"
#include "data/sample_loader.hpp"
#include "harness/batches.hpp"
#include "harness/communicator.hpp"
#include "harness/ranks.hpp"
#include "harness/session.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace bench::steps {

/// How long the slowest rank waited for its node's copy of a data set, and what all of them copied.
struct Staging {
  double seconds = 0;
  std::int64_t bytes = 0;

  /// Prints `staged_folder`, `staging_s` and `staged_bytes`.
  /// @param folder of this rank's copy
  void log(const std::string& folder) const;
};

/// Copies a data set on all ranks, each for its node, and waits for the slowest: what MLPerf HPC
/// calls staging, with its lines of `--mllog`.
/// @param copy returns the bytes that this rank copied
Staging stage_together(Communicator& ranks, const torch::Device& device,
                       const std::function<std::uint64_t()>& copy);

/// Default number of threads that load data. With a GPU, the host has nothing else to do. On a CPU,
/// the network needs far more time for a sample than the loader.
/// @param cpus that this process may use
/// @param node_cpus of the node: if those are the same, its ranks share them
int default_loader_threads(int cpus, int node_cpus, int ranks_on_node, bool on_gpu);

/// The default for this process.
int default_loader_threads(const Ranks& ranks, const torch::Device& device);

/// Where samples come from, and how they come to the device.
struct LoaderOptions {
  std::string synthetic = "host";  ///< Where synthetic samples are made: device, host.
  int threads = 0;                 ///< 0: as many as suit the device.
  std::int64_t prefetch = 2;       ///< Batches to load ahead.
  std::string path;                ///< Files of a data set; empty: synthetic samples.
  std::string stage_to;            ///< Folder of each node; empty: files are read where they are.
  bool cache = false;              ///< Keep what was read in memory.
  /// Of a program that updates several models in a step, each on a batch of its own. An epoch
  /// counts the batches of one of them. Not an option.
  std::int64_t updates_per_step = 1;
};

/// Adds `--loader-threads` and `--prefetch`.
void add_loader_thread_options(CLI::App& app, LoaderOptions& options);

/// Adds these and `--synthetic`.
void add_loader_options(CLI::App& app, LoaderOptions& options);

/// Adds these, `--data-path`, `--stage-to` and `--cache`.
void add_data_options(CLI::App& app, LoaderOptions& options);

/// Threads of the options, or the default of this process.
int loader_threads(const LoaderOptions& options, const Ranks& ranks, const torch::Device& device);

/// The samples that a program can train on. Both functions make samples of the same fields.
struct SampleFormat {
  /// Synthetic samples: as many makers as threads, for example `generated_samples`.
  std::function<SampleMakers(std::uint64_t seed, int threads)> synthetic = {};
  std::vector<std::string_view> endings = {};  ///< Of the files that are read from a folder.
  /// Those of a data set.
  /// @param files at least one
  /// @param threads that may be used to open them
  std::function<std::unique_ptr<FieldSource>(const std::vector<std::string>& files, int threads)>
      open = {};
  std::vector<std::string> hwc_fields = {};  ///< See BatchOptions.
  /// Changes the samples to train on, each time in another way: crops them, for example. Empty:
  /// they stay as they are.
  std::function<SampleMakers(SampleMakers makers, std::uint64_t seed)> augment = {};
};

/// Opens the files of the options, or this node's copies of them, and prints what they are.
/// @param prefix of the names of what it prints
/// @throws UsageError, DataError as `find_data_files`, `stage_files` and `format.open`
std::shared_ptr<const FieldSource> open_data(Session& session, const LoaderOptions& options,
                                             const SampleFormat& format,
                                             const std::string& prefix = "");

/// Batches of this rank: `--batch-size` samples for each update, in `--micro-batches` parts. Prints
/// where they come from and how they are loaded. With `--epochs` it changes
/// `session.arguments().steps` (`set_epoch_length`), so log and loop are made after it.
///
/// Samples of a data set come in random order, another one in each epoch. With a cache and several
/// ranks, each rank keeps to its part of the data set (`SampleShard`).
/// @throws UsageError, DataError as `find_data_files`, `stage_files`, `format.open` and
///         `set_epoch_length`
std::unique_ptr<Batches> make_batches(Session& session, const LoaderOptions& options,
                                      const SampleFormat& format);

/// Batches to evaluate on, of `--batch-size` samples in `--micro-batches` parts: the samples of a
/// source from the first on, always in the same order.
/// @param source empty: synthetic samples, which are not those of the training
std::unique_ptr<Batches> evaluation_batches(Session& session, const LoaderOptions& options,
                                            const SampleFormat& format,
                                            const std::shared_ptr<const FieldSource>& source);

/// Prints how fast the threads were that load batches, if there were any.
void log_loader(const Batches& batches);

/// Samples to train and to evaluate on: synthetic ones, or a data set in the folders `train` and
/// `validation` of `--data-path`.
class FieldData {
 public:
  /// @param fields that a data set must have
  /// @param synthetic_epoch samples of an epoch of synthetic samples, unless the user says
  FieldData(LoaderOptions options, SampleFormat format, const std::vector<Field>& fields,
            std::int64_t synthetic_epoch);

  bool is_synthetic() const { return options_.path.empty(); }

  /// MLPerf's runs begin without data in memory: with `--mllog`, drops what this node keeps of the
  /// files there, and prints `cache_clear`. The ranks of a node share the work. To be called before
  /// `Session::begin`.
  /// @throws UsageError if there are no files
  void clear_caches(Session& session) const;

  /// Opens the data set, prints what the samples are, and sets the length of an epoch. All ranks
  /// must call it.
  /// @param eval_samples of an evaluation; 0: the validation part may be absent
  /// @throws UsageError, DataError as `make_batches`, or if samples have other fields than the
  ///         program, or there are fewer than an evaluation needs
  void open(Session& session, std::int64_t eval_samples);

  /// Samples of an epoch: `--samples-per-epoch`, or all of the training part.
  std::int64_t epoch_samples() const { return epoch_samples_; }

  /// In another order in each epoch.
  Batches& training() const { return *training_; }

  /// Samples to evaluate on, from the first on, always in the same order. Synthetic ones are not
  /// those of the training.
  std::unique_ptr<Batches> validation_batches(Session& session) const;

 private:
  LoaderOptions part(const char* name) const;

  LoaderOptions options_;
  SampleFormat format_;
  std::int64_t epoch_samples_;
  std::unique_ptr<Batches> training_;
  std::shared_ptr<const FieldSource> validation_;  ///< Empty unless it is evaluated on.
};

}  // namespace bench::steps
