#pragma once

#include "harness/arguments.hpp"
#include "harness/device.hpp"
#include "harness/log.hpp"
#include "harness/timers.hpp"
#include "harness/torch_all.hpp"
#include "harness/trainer.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bench/energy/regions/region.hpp>

namespace bench::steps {

/// Records which operations LibTorch executes, and writes them as a trace in Chrome's format, which
/// Perfetto opens. While it records, every operation takes some microseconds longer.
class Profiler {
 public:
  /// Opens the file before the run, which may take hours, rather than fail after it.
  /// @param file empty: nothing is ever recorded
  /// @param rank those behind rank 0 add their number to the name
  /// @throws UsageError if it cannot be written
  Profiler(const std::string& file, const torch::Device& device, int rank);

  bool is_wanted() const { return file_.is_wanted(); }
  void start();
  /// Ends the recording.
  /// @throws std::runtime_error if the file cannot be written to its end
  void write();

 private:
  ResultFile file_;
  torch::Device device_;
  int rank_;
};

/// What the log shows of one measured step.
struct LoggedStep {
  StepResult result;
  double io_s = 0;  ///< The host waited so long for its data.
};

/// Measures steps as the host sees them, without what comes between them.
class StepClock {
 public:
  void begin() { since_ = std::chrono::steady_clock::now(); }
  /// So much of the time since then belongs to no step.
  void skip(double seconds);
  /// Seconds since `begin` or the last call.
  double take_s();

 private:
  std::chrono::steady_clock::time_point since_;
};

/// Prints measured steps as they become known. A program whose field has a log format of its own
/// brings another.
class ProgressLog {
 public:
  ProgressLog() = default;
  ProgressLog(const ProgressLog&) = delete;
  ProgressLog& operator=(const ProgressLog&) = delete;
  virtual ~ProgressLog() = default;

  /// The first step of an epoch begins.
  virtual void begin() = 0;
  /// A step has ended, in the order of steps.
  virtual void add(const LoggedStep& step) = 0;
  /// Other work was done for so long, an evaluation or a checkpoint: it belongs to no step.
  virtual void paused(double seconds) = 0;
  /// The epoch has ended.
  /// @param epoch_s its time
  virtual void end(double epoch_s) = 0;
};

/// True for the steps that have a line, counted from 1: the first, each tenth, beyond 1,000 each
/// hundredth, and beyond 10,000 each thousandth.
/// @param offset of all lines behind the first, 0 or 1: 10, 20, ... or 11, 21, ...
bool has_line(std::int64_t step, std::int64_t offset = 0);

/// `step 20/100 | loss 0.123456 | 1.23e+03 samples/s | 0.0812 s/step`, over the steps since the
/// line before.
class StepLines : public ProgressLog {
 public:
  /// @param steps of the whole run, if it does not end early
  StepLines(std::int64_t steps, std::int64_t global_batch)
      : steps_(steps), global_batch_(global_batch) {}

  void begin() override;
  void add(const LoggedStep& step) override;
  void paused(double seconds) override { clock_.skip(seconds); }
  void end(double epoch_s) override;

 private:
  void print();

  std::int64_t steps_;
  std::int64_t global_batch_;
  std::int64_t step_ = 0;
  std::int64_t printed_ = 0;  ///< The step of the last line.
  double loss_ = 0;           ///< Of the newest step.
  StepClock clock_;           ///< From the end of the step of the last line.
};

/// How long a training loop runs.
struct LoopOptions {
  std::int64_t warmup = 10;  ///< Steps before the measured ones.
  std::int64_t steps = 100;  ///< Measured steps.
  /// Measured steps of an epoch; 0: all are one epoch.
  std::int64_t steps_per_epoch = 0;
  double time_limit_s = 0;        ///< Ends after the step that exceeds it; 0: none.
  std::string profile_file = {};  ///< For a trace of three steps after the measured ones.
};

/// Turns `--epochs` into steps, and prints how long epochs are, if the user wants any. The last
/// step of an epoch takes the first samples of the next one if the batches do not divide it.
/// @param global_batch samples of a step on all ranks
/// @param samples_per_epoch of the data; empty if it has no end
/// @throws UsageError if the user wants epochs and nothing says how long they are
void set_epoch_length(CommonArguments& arguments, std::int64_t global_batch,
                      std::optional<std::uint64_t> samples_per_epoch);

/// So many epochs in steps, for evaluations between them.
/// @throws UsageError if epochs have no length, as with `--epochs 0`
std::int64_t steps_of_epochs(const CommonArguments& arguments, std::int64_t epochs);

/// Those that every program has.
/// @throws UsageError if the user wants epochs, and `set_epoch_length` was not called
LoopOptions loop_options(const CommonArguments& arguments);

/// The steps of a training: warm-up, then measured epochs. The program writes the loop itself:
///
///     for (Loop loop(timers, trainer, log, options); loop.next();) {
///       const Batch batch = loop.io([&] { return batches.next(); });
///       const torch::Tensor loss = loop.forward([&] { return loss_of(model, batch); });
///       loop.backward([&] { trainer.backward(loss); });
///       loop.update();
///     }
///
/// It ends early, on all ranks after the same step, when the loss is not finite, a signal has come,
/// the time limit is over or the program has called `finish`. At least one step is measured unless
/// the warm-up ends that way.
class Loop {
 public:
  /// All must outlive this object.
  Loop(Timers& timers, Trainer& trainer, ProgressLog& log, const LoopOptions& options);

  /// Between two steps, calls `work` after each so many measured steps. It counts to no epoch, and
  /// is a region of its own.
  /// @param name of the region: `checkpoint`, `evaluation`
  /// @param interval in steps; 0: at the end of each epoch
  void after(const std::string& name, std::int64_t interval, std::function<void()> work);

  /// Ends the step before, if there was one, and begins the next; false if there is none.
  bool next();

  /// The parts of a step, which are timed. They return a copy of what `work` returns; return a
  /// pointer to avoid the copy. With a CUDA graph, the last three call `work` for the first steps
  /// only, and replay it later.
  template <typename Work>
  auto io(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    auto result = timers_.timed(Region::io, work);
    io_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
  }
  template <typename Work>
  auto forward(const Work& work) {
    return timers_.timed(Region::forward, [&] { return replay_.part(work); });
  }
  template <typename Work>
  auto backward(const Work& work) {
    return timers_.timed(Region::backward, [&] { return replay_.part(work); });
  }
  /// Waits for the gradients of the other ranks, then updates the weights.
  void update();
  /// The same for another model that the step trains, as often as it does: a critic before the
  /// loop's own generator. Not with a CUDA graph.
  /// @param other its backward pass has ended
  void update(Trainer& other);

  /// Results of the measured steps.
  const std::vector<StepResult>& results() const { return results_; }
  /// Of the very first step, warm-up included, and of the last one; nothing before any is known.
  std::optional<double> first_loss() const { return first_loss_; }
  std::optional<double> final_loss() const { return final_loss_; }
  std::int64_t steps() const { return steps_; }    ///< That have ended, warm-up included.
  std::int64_t epochs() const { return epochs_; }  ///< That have begun.
  /// That have ended with their last step: all but one that the training's end has cut short.
  std::int64_t whole_epochs() const;
  /// The step in which the loss or a gradient was not finite, from 1, warm-up included.
  std::optional<std::int64_t> diverged_at() const { return diverged_at_; }
  bool is_interrupted() const { return interrupted_; }
  /// A signal has ended work between steps, on all ranks.
  void set_interrupted() { interrupted_ = true; }
  /// The training has reached what it was for, on all ranks: it ends after this step.
  void finish() { finished_ = true; }
  /// It has neither diverged nor been interrupted.
  bool ended_well() const { return !diverged_at_ && !interrupted_; }
  bool ended_early() const { return diverged_at_ || interrupted_ || time_is_over_ || finished_; }

 private:
  enum class Phase { not_begun, warmup, epoch, profile, ended };
  struct Hook {
    std::string name;
    std::int64_t interval;
    std::function<void()> work;
  };

  void begin();
  void end_step();
  void begin_epoch();
  void end_epoch();
  void end_measured();
  void take(const StepResult& result);
  void take_all();
  void run_hooks(bool epoch_has_ended);
  bool time_is_over() const;
  bool epoch_is_over() const;

  Timers& timers_;
  Trainer& trainer_;
  ProgressLog& log_;
  LoopOptions options_;
  Replay replay_;
  Profiler profiler_;
  std::vector<Hook> hooks_;
  Phase phase_ = Phase::not_begun;
  std::optional<energy::Region> warmup_region_;
  std::chrono::steady_clock::time_point begin_;
  std::int64_t steps_ = 0;         ///< Ended, warm-up included.
  std::int64_t measured_ = 0;      ///< Ended.
  std::int64_t profiled_ = 0;      ///< Ended.
  std::int64_t epochs_ = 0;        ///< Begun.
  std::int64_t known_ = 0;         ///< Steps whose results are known, warm-up included.
  double io_s_ = 0;                ///< In this step.
  std::deque<double> steps_io_s_;  ///< Of the steps that are not known yet.
  std::vector<StepResult> results_;
  std::optional<double> first_loss_;
  std::optional<double> final_loss_;
  std::optional<std::int64_t> diverged_at_;
  bool interrupted_ = false;
  bool time_is_over_ = false;
  bool finished_ = false;
};

}  // namespace bench::steps
