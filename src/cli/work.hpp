#pragma once

#include <optional>
#include <string>

#include <bench/machine/platform.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace CLI {
class App;
}

namespace bench::cli {

/// Options that `run` and `continue` share.
struct WorkOptions {
  bool stop_at_error = false;
  bool analyse = false;
  bool result = false;
  bool hide_animation = false;
  std::string budget;  ///< Empty: none, or the one that the run has.
  std::optional<int> parallel;
  bool wait = false;   ///< For the jobs of the batch system, too.
  bool chain = false;  ///< Jobs are submitted before those that they depend on have ended.
  bool cancel_on_interrupt = false;
  int verbosity = 0;     ///< 1: the log on the console; 2: what commands print; 3: both.
  bool lenient = false;  ///< Mistakes in the input are warnings.
  bool strict = false;   ///< A warning is an error; with the tables, it makes the exit code 1.
};

/// Declares the options that `run` and `continue` share.
void declare(CLI::App& app, WorkOptions& options);

/// Declares the options that say how the jobs of batch steps are asked for.
void declare_asking(CLI::App& app, machine::SubmissionDefaults& asking);

/// Sets how much is shown from the options or, without them, from `JUBE_VERBOSE`, and that a batch
/// system which takes its time is named.
/// @throws Error if that is not a number from 0 to 3
void set_verbosity(WorkOptions& options);

/// Works on a run until nothing is left to do here, shows and logs that, and returns the exit code.
/// The caller holds the lock.
/// @param log_name `run` or `continue`
int work_on(space::Run& run, workspace::Workspace& workspace, const WorkOptions& options,
            const std::string& log_name);

/// Whether no further run is to be worked on after one with this exit code.
bool ends_all(int code, const WorkOptions& options);

}  // namespace bench::cli
