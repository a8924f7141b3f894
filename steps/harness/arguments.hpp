#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace CLI {
class App;
}

namespace bench::steps {

enum class Precision;

/// The options that every step program has.
struct CommonArguments {
  std::string device = "auto";
  std::string precision_name = "fp32";
  std::int64_t batch_size = 32;    ///< Where a program has `add_batch_size_option`.
  std::int64_t micro_batches = 1;  ///< Where a program has `add_batch_options`.
  std::int64_t steps = 100;
  std::int64_t epochs = 0;             ///< In place of `steps`; 0: none.
  std::int64_t samples_per_epoch = 0;  ///< 0: those of the data set.
  std::int64_t steps_per_epoch = 0;    ///< Filled in by `set_epoch_length`; 0: all are one epoch.
  std::int64_t warmup = 10;
  double rank_timeout_s = 120;  ///< How long a rank waits for others in an operation.
  double time_limit_s = 0;      ///< 0: none.
  double peak_tflops = 0;       ///< Of one device in the precision of the run; 0: unknown.
  int threads = 0;              ///< 0: as many as there are CPUs that this process may use.
  std::uint64_t seed = 1;
  std::string timings_file;  ///< Empty: no file of samples.
  std::string metrics_file;  ///< Empty: no file of results.
  std::string profile_file;  ///< Empty: no trace.
  std::string load_weights;  ///< Safetensors file; empty: initial weights from the seed.
  std::string save_weights;  ///< Safetensors file; empty: none.
  bool deterministic = false;
  bool mllog = false;  ///< MLPerf's lines beside the others.
  bool describe = false;
  bool build_info = false;
  std::string in_common;  ///< Filled in from `options_in_common`.

  Precision precision() const;  ///< Defined in precision.cpp: nothing else here needs LibTorch.
  std::chrono::milliseconds rank_timeout() const;
};

void add_common_options(CLI::App& app, CommonArguments& arguments);
/// Adds `--batch-size`: samples of each rank in a step.
void add_batch_size_option(CLI::App& app, CommonArguments& arguments);
/// Adds that and `--micro-batches`: a step has as many forward and backward passes, each of an
/// equal part of the batch, and sums their gradients.
void add_batch_options(CLI::App& app, CommonArguments& arguments);
/// Samples of such a part.
/// @throws UsageError if the batch cannot be divided
std::int64_t micro_batch_size(const CommonArguments& arguments);

/// Reads the command line into what the options of `app` point to. Returns false if it asked for
/// help or the version, which then is printed. If a program has an option `--version VALUE`, that
/// without a value asks for the version.
/// @throws UsageError if the command line is wrong
bool parse_command_line(CLI::App& app, int argc, char** argv);

/// The options of a command line that was read, a line for each that must be the same on all ranks:
/// all but those for device, threads and files, of which a rank may have its own.
std::string options_in_common(const CLI::App& app);

// Validators for numeric options. Unlike CLI11's own ranges, these refuse `nan` and `inf`, and
// describe valid values in words.

CLI::Validator positive();
CLI::Validator not_negative();
/// Both included.
CLI::Validator between(double least, double most);
/// For a share below 1.
CLI::Validator from_0_to_below_1();

/// Up to `most`, that included.
CLI::Validator multiple_of(std::int64_t divisor, std::int64_t most);

/// A seed; CLI11 takes -1 for 18446744073709551615.
CLI::Validator whole_and_not_negative();

/// The names in a table of models, in its order.
template <typename Row, std::size_t count>
std::vector<std::string> names_of(const Row (&rows)[count]) {
  std::vector<std::string> names;
  for (const Row& row : rows)
    names.emplace_back(row.name);
  return names;
}

/// @throws std::invalid_argument if the table has no row of that name
template <typename Row, std::size_t count>
const Row& row_named(const Row (&rows)[count], const std::string& name) {
  const auto* row = std::find_if(std::begin(rows), std::end(rows),
                                 [&](const Row& known) { return known.name == name; });
  if (row == std::end(rows))
    throw std::invalid_argument("unknown model '" + name + "'");
  return *row;
}

}  // namespace bench::steps
