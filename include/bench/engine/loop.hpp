#pragma once

#include <atomic>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/engine/run.hpp>
#include <bench/schedule/job.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::engine {

/// Where the engine tells how it is getting on. Called from the loop, often: be quick.
class Observer {
 public:
  virtual ~Observer() = default;
  /// @param counts one entry per step of the benchmark, in order
  virtual void progress(const std::vector<workspace::StepCounts>& counts) = 0;
  virtual void failed(const workspace::Workpackage& workpackage) = 0;
  /// An attempt has failed, and the workpackage is made again.
  virtual void repeated(const workspace::Workpackage& workpackage, const std::string& reason) = 0;
  /// Commands of a workpackage are about to start here, or to go on.
  virtual void started(const schedule::Job& /*job*/) {}
  /// They have ended, well or not.
  virtual void stopped(long long /*workpackage*/) {}
  /// Something that the user should know and that is no error.
  virtual void notice(const std::string& message) = 0;
};

struct LoopOptions {
  bool stop_at_error = false;        ///< `-e`: nothing further starts after the first failure.
  bool wait = false;                 ///< Until the jobs of the batch system have ended, too.
  bool cancel_on_interrupt = false;  ///< They are cancelled where the user interrupts the loop.
  /// Set by a signal handler; the loop then ends what runs here and returns.
  const std::atomic<bool>* interrupted = nullptr;
};

/// How a run stands when the loop returns.
struct Standing {
  std::vector<workspace::StepCounts> counts;
  bool interrupted = false;
  /// What keeps the batch system from being asked, or workpackages from being started; empty:
  /// nothing.
  std::string trouble;
  /// What the batch system said where it refused jobs; empty: nothing.
  std::string refusals;

  long long failed() const;
  /// Workpackages that have not ended: with a scheduler, or left by an interruption.
  long long open() const;
};

/// Takes a run as far as it goes: takes in what has ended since (also what an earlier, killed bench
/// left), makes workpackages whose parents are done, and starts what is ready. Returns when nothing
/// is left to do here; jobs of a scheduler may then still be under way.
///
/// The caller holds the writer lock of the run.
/// @throws Error if the run cannot go on, its database cannot be written, say; what runs here then
///         goes on, and the next call takes it up
Standing work(const Run& run, workspace::Workspace& workspace, const LoopOptions& options,
              Observer& observer);

}  // namespace bench::engine
