#pragma once

#include "harness/session.hpp"

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace bench::steps {

/// What MLPerf HPC's rules want to know of a run beside its training. Keys and values are those of
/// its compliance checker, round 3.0: github.com/mlcommons/logging,
/// mlperf_logging/compliance_checker/hpc_3.0.0.
struct SubmissionOptions {
  std::string organisation = "MLPerf-style, unofficial";
  std::string platform;             ///< Empty: the name of the device.
  std::string division = "open";    ///< open, closed.
  std::string status = "research";  ///< cloud, onprem, preview, research.
};

/// Adds `--submission-org`, `--submission-platform`, `--submission-division` and
/// `--submission-status`.
void add_submission_options(CLI::App& app, SubmissionOptions& options);

/// What the rules call the run.
struct Submission {
  std::string benchmark;  ///< `cosmoflow`, `deepcam`
  std::int64_t global_batch = 1;
  bool synthetic = true;  ///< Then nothing of it can be official, and it says so.
};

/// Prints the batch size, and the first lines of `--mllog` after `init_start`: who runs what, seed,
/// ranks and devices, and the global batch size. To be called after `Session::begin`.
void mllog_submission(Session& session, const Submission& submission,
                      const SubmissionOptions& options);

/// Prints the sizes of the data set, the last lines of `--mllog` before `init_stop`.
void mllog_samples(std::int64_t train_samples, std::int64_t eval_samples);

}  // namespace bench::steps
