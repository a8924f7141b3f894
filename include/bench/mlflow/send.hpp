#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <bench/mlflow/run_content.hpp>
#include <bench/mlflow/tracking_store.hpp>

namespace bench::mlflow {

/// What an export has done.
struct Sent {
  std::string run_id;  ///< That MLflow gave the run itself.
  std::size_t created = 0;
  std::size_t updated = 0;
  std::size_t unchanged = 0;
  std::size_t open = 0;      ///< Workpackages that have not ended, which are left out.
  std::size_t obsolete = 0;  ///< Newly marked: of attempts that were repeated or removed.
  std::size_t params = 0;
  std::size_t metrics = 0;  ///< Values.
  std::size_t artifacts = 0;
  std::vector<std::string> left_out;  ///< Files that are too large or unreadable.
  std::string artifact_uri;           ///< Where MLflow keeps files, if they were not sent.
};

/// Called after each run of MLflow: how many are done, of how many.
using Progressed = std::function<void(std::size_t done, std::size_t all)>;

/// Sends what the store lacks of a run. A run of MLflow that is complete has the tag `bench.sent`,
/// written last: a hash of its contents, so that the next export passes over it.
/// @throws Error as the store does
Sent send(const RunContent& content, TrackingStore& store, const Progressed& progressed);

}  // namespace bench::mlflow
