#pragma once

#include "harness/trainer.hpp"

#include <chrono>
#include <cstdint>

namespace bench::steps {

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

}  // namespace bench::steps
