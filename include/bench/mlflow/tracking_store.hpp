#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bench/mlflow/settings.hpp>

namespace bench::mlflow {

struct Metric {
  std::string key;
  double value = 0;
  long long timestamp_ms = 0;  ///< Unix time.
  long long step = 0;
};

/// Keys and values.
using Pairs = std::vector<std::pair<std::string, std::string>>;

/// What is logged to a run of MLflow.
struct Batch {
  Pairs params;  ///< MLflow never changes their values.
  Pairs tags;
  std::vector<Metric> metrics;

  bool empty() const { return params.empty() && tags.empty() && metrics.empty(); }
};

enum class Status { running, finished, failed, killed };

/// A run of MLflow that is to be created. Its tags tell it from all others.
struct NewRun {
  std::string name;
  long long start_ms = 0;  ///< Unix time.
  Pairs tags;
};

/// A run that MLflow has.
struct StoredRun {
  std::string id;
  std::string artifact_uri;
  std::map<std::string, std::string> params;
  std::map<std::string, std::string> tags;
  std::map<std::string, Metric> latest;  ///< Of each metric, the value of the largest step.
};

/// The tags by which runs are found again.
inline constexpr const char* run_tag = "bench.run_uuid";
inline constexpr const char* workpackage_tag = "bench.workpackage";  ///< `all`: the run itself.
inline constexpr const char* attempt_tag = "bench.attempt";

/// One experiment of MLflow, on a server or in a directory.
class TrackingStore {
 public:
  virtual ~TrackingStore() = default;

  virtual const std::string& experiment_id() const = 0;
  /// The runs that have all of these tags, with their tags at least.
  virtual std::vector<StoredRun> find(const Pairs& tags) = 0;
  /// A run with all that it has.
  virtual StoredRun read(const StoredRun& run) = 0;
  /// Creates it once, also if the answer of a server is lost.
  virtual StoredRun create(const NewRun& run) = 0;
  /// All values of a metric.
  virtual std::vector<Metric> history(const StoredRun& run, const std::string& key) = 0;
  /// Logs what the run does not have yet. Nothing is logged twice, also if an answer is lost.
  /// @param batch within the limits of one request
  virtual void log(const StoredRun& run, const Batch& batch) = 0;
  /// @param end_ms Unix time; none: it has not ended
  virtual void set_status(const StoredRun& run, Status status, std::optional<long long> end_ms) = 0;
  /// Whether files can be put; otherwise they belong at `artifact_uri`, which bench does not reach.
  virtual bool takes_artifacts(const StoredRun& run) const = 0;
  /// Puts a file, in the place of an older one.
  /// @param name with `/` between folders
  /// @returns false if it is too large for a server
  virtual bool put_artifact(const StoredRun& run, const std::string& name,
                            const std::string& content) = 0;
};

/// Told of every wait for a server that does not answer as it should.
using Notify = std::function<void(const std::string&)>;

/// The experiment of a server, created if it has none of this name.
/// @throws Error, as all of its functions do, if the server refuses or does not answer
std::unique_ptr<TrackingStore> open_server(const ServerSettings& settings,
                                           const std::string& experiment, Notify notify);

/// The experiment of this name in the file store `directory`, both created if they are not there.
/// Ids follow from names and tags, so that equal runs give equal files.
/// @throws Error, as all of its functions do, if a file cannot be read or written
std::unique_ptr<TrackingStore> open_directory(const std::filesystem::path& directory,
                                              const std::string& experiment);

}  // namespace bench::mlflow
