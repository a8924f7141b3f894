#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <bench/share/run_content.hpp>
#include <bench/share/tracking_store.hpp>

namespace bench::mlflow {

/// Summary of an export to MLflow.
struct Sent {
  std::string run_id;  ///< MLflow's id of the parent run.
  std::size_t created = 0;
  std::size_t updated = 0;
  std::size_t unchanged = 0;
  std::size_t open = 0;      ///< Unfinished workpackages, which are left out.
  std::size_t obsolete = 0;  ///< Newly marked runs of repeated or removed attempts.
  std::size_t params = 0;
  std::size_t metrics = 0;  ///< Values.
  std::size_t artifacts = 0;
  std::vector<std::string> left_out;      ///< Files that are too large or unreadable.
  std::vector<std::string> with_secrets;  ///< Files with secrets that cannot be replaced in them.
  std::vector<std::string> unsearched;    ///< Sent files in which secrets cannot be looked for.
  std::string artifact_uri;               ///< Where MLflow stores files, if they were not sent.
};

/// Called after each MLflow run with the number of sent runs and the total.
using Progressed = std::function<void(std::size_t done, std::size_t all)>;

/// Sends everything of a run that the store lacks. The tag `bench.sent` is written last and marks
/// an MLflow run as complete: it holds a hash of the content, so that the next export skips the
/// run.
/// @throws Error as the store does
Sent send(const RunContent& content, TrackingStore& store, const Progressed& progressed);

}  // namespace bench::mlflow
