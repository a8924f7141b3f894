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

}  // namespace bench::steps
