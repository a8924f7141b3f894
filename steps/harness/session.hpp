#pragma once

#include "harness/arguments.hpp"
#include "harness/communicator.hpp"
#include "harness/log.hpp"
#include "harness/ranks.hpp"
#include "harness/timers.hpp"
#include "harness/torch_all.hpp"
#include "harness/trainer.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <c10/core/DeviceGuard.h>

namespace bench::steps {

class Cost;
class Loop;

/// What every step program does around its training.
///
///     Session session("unet", "Trains a U-Net.");
///     add_options(session.app(), options);
///     if (!session.parse(argc, argv))
///       return exit_ok;                       // --help, --version
///     if (session.arguments().describe) { ... return exit_ok; }
///     session.begin();                        // ranks, device, files, environment, seed
///     ... network
///     session.load_weights(*model);
///     ... trainer, data
///     session.start_training();
///     ... loop, report_measured
///     session.save_weights(*model, loop);
///     return report_outcome(session, loop);
///
/// A program has one.
class Session {
 public:
  /// @param description of the program, for its help
  Session(const std::string& program, const std::string& description);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The command line, to which a program adds its options. It has the common ones.
  CLI::App& app() { return *app_; }
  CommonArguments& arguments() { return arguments_; }
  const CommonArguments& arguments() const { return arguments_; }

  /// Reads the command line. Returns false if it asked for help, the version or what the program
  /// was built with, which is printed.
  /// @throws UsageError if it is wrong
  bool parse(int argc, char** argv);

  /// Finds the ranks of the program. Before `begin`, for options that depend on their number.
  /// May restart the program, with variables for its BLAS.
  /// @throws UsageError if the environment contradicts itself
  const Ranks& find_ranks();

  /// Chooses the device. Before `begin`, for options that depend on it.
  /// @throws UsageError if device or precision are not there
  const torch::Device& choose_device();

  /// Opens files, connects the ranks, sets threads and seed, and prints the environment. From then
  /// on a failure is told to the other ranks.
  /// @throws UsageError also if files cannot be written
  void begin();

  /// Overwrites the weights of a whole network with those of `--load-weights`, if it is given.
  /// The program calls it, after the network is moved to its device and before its trainer is made.
  /// @throws HintedError as `steps::load_weights`
  void load_weights(torch::nn::Module& network) const;
  /// Rank 0 writes the file of `--save-weights`, if it is given and the training has not diverged.
  /// The program calls it after its loop, on all ranks: running statistics are averaged over them.
  void save_weights(const torch::nn::Module& network, const Loop& loop);

  /// Everything is set up: the lines of `--mllog` say so, and a signal ends the loop from now on,
  /// not the process.
  void start_training();

  const torch::Device& device() const { return *device_; }
  Communicator& ranks() { return *communicator_; }
  /// Samples of a step on all ranks.
  std::int64_t global_batch() const { return arguments_.batch_size * communicator_->size(); }
  Timers& timers() { return *timers_; }
  TrainingContext context();
  /// Writes the file of `--timings`, if it is given: every sample as a line `key,index,seconds`.
  /// @throws std::runtime_error if it cannot be written to its end
  void write_timings();
  /// Since the start of the program.
  double seconds() const;
  /// Since `start_training`.
  double training_seconds() const;

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point training_begin_;
  std::unique_ptr<CLI::App> app_;
  CommonArguments arguments_;
  std::optional<Ranks> found_;
  std::optional<torch::Device> device_;
  std::optional<c10::DeviceGuard> guard_;
  std::optional<ResultFile> timings_;
  std::optional<Communicator> communicator_;
  std::optional<Timers> timers_;
};

/// What the report of a program needs to know of its work.
struct ReportedWork {
  std::int64_t global_batch = 1;  ///< Samples of a step on all ranks.
  double flops_per_sample = 0;    ///< Of a training step; 0: unknown.
  double bytes_per_sample = 0;    ///< Read by a training step; 0: unknown.
  std::string unit = "samples";   ///< Of the field: `images`, `tokens`.
  double units_per_sample = 1;    ///< Tokens of a sequence, for example.
};

/// The work of a network that a `Cost` describes.
ReportedWork reported_work(const Cost& cost, std::int64_t global_batch,
                           const std::string& unit = "samples");

/// Prints the measured times, rates and losses of a loop that has ended, and writes the files:
///
///     measured_steps, epoch_s (with several epochs first, min, mean, max of the whole ones, and
///     epoch_1_s, ...), time_per_step_..., io_..., forward_..., ... _min_s, _mean_s, _median_s,
///     _max_s, _std_s, first_step_s, samples_per_second, samples_per_second_per_device, the same in
///     the field's unit, tflops_per_device, mfu_percent (with --peak-tflops), megabytes_per_second,
///     first_loss, final_loss
/// @returns samples per second; 0 if nothing was measured
double report_measured(Session& session, const Loop& loop, const ReportedWork& work);

/// Parts of it: the epochs' times if there are several, and the rates.
/// @param whole_epochs the first ones; one that was cut short after them does not count
void log_epochs(const Timers& timers, std::int64_t whole_epochs);
void log_rates(Session& session, const ReportedWork& work, double samples_per_second);

/// Prints peak memory, total runtime and `result=`. Returns the exit code.
int report_outcome(Session& session, const Loop& loop);
/// The same of work that cannot diverge.
/// @param interrupted a signal has ended it
int report_outcome(Session& session, bool interrupted);

}  // namespace bench::steps
