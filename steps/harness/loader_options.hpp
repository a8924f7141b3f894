#pragma once

#include "data/field_source.hpp"
#include "data/sample_maker.hpp"
#include "harness/batches.hpp"
#include "harness/session.hpp"

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

}  // namespace bench::steps
