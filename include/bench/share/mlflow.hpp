#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bench/results/analyses.hpp>
#include <bench/share/http_client.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::mlflow {

/// How to reach a tracking server.
struct ServerSettings {
  HttpServer http;
  std::string path;      ///< In front of `/api`: empty, or `/mlflow` behind a proxy.
  std::string uri;       ///< For messages: without user and password.
  int most_retries = 5;  ///< Of one request.
  double backoff_s = 1;  ///< Before the first retry; doubled for each further one.
};

/// The settings for the server at `uri`, from the environment variables that MLflow's own clients
/// read: `MLFLOW_TRACKING_USERNAME` and `_PASSWORD`, `_TOKEN`, `_INSECURE_TLS`,
/// `_SERVER_CERT_PATH`, `MLFLOW_HTTP_REQUEST_TIMEOUT` (seconds), `_MAX_RETRIES`, `_BACKOFF_FACTOR`
/// (seconds), and `http_proxy`, `https_proxy`, `no_proxy`.
/// @throws Error if the URI does not name a server, or a numeric variable is invalid
ServerSettings settings_of(const std::string& uri);

struct Metric {
  std::string key;
  double value = 0;
  long long timestamp_ms = 0;  ///< Unix time.
  long long step = 0;
};

/// Keys and values.
using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Data to log to an MLflow run.
struct Batch {
  Pairs params;  ///< MLflow never changes their values.
  Pairs tags;
  std::vector<Metric> metrics;

  bool empty() const { return params.empty() && tags.empty() && metrics.empty(); }
};

enum class Status { running, finished, failed, killed };

/// An MLflow run to create. Its tags identify it.
struct NewRun {
  std::string name;
  long long start_ms = 0;  ///< Unix time.
  Pairs tags;
};

/// A run in MLflow.
struct StoredRun {
  std::string id;
  std::string artifact_uri;
  std::map<std::string, std::string> params;
  std::map<std::string, std::string> tags;
  std::map<std::string, Metric> latest;  ///< The value at the largest step of each metric.
};

/// The tags by which runs are found again.
inline constexpr const char* run_tag = "bench.run_uuid";
inline constexpr const char* workpackage_tag = "bench.workpackage";  ///< `all`: the run itself.
inline constexpr const char* attempt_tag = "bench.attempt";

/// An MLflow experiment, on a server or in a directory.
class TrackingStore {
 public:
  virtual ~TrackingStore() = default;

  virtual const std::string& experiment_id() const = 0;
  /// The runs that have all of these tags, at least with their tags filled in.
  virtual std::vector<StoredRun> find(const Pairs& tags) = 0;
  /// Reads all data of a run.
  virtual StoredRun read(const StoredRun& run) = 0;
  /// Creates a run exactly once, even if the server's response is lost.
  virtual StoredRun create(const NewRun& run) = 0;
  /// All values of a metric.
  virtual std::vector<Metric> history(const StoredRun& run, const std::string& key) = 0;
  /// Logs a batch exactly once, even if the server's response is lost.
  /// @param batch within the limits of one request
  virtual void log(const StoredRun& run, const Batch& batch) = 0;
  /// @param end_ms Unix time; none: it has not ended
  virtual void set_status(const StoredRun& run, Status status, std::optional<long long> end_ms) = 0;
  /// Whether files can be uploaded; otherwise they belong at `artifact_uri`, which bench cannot
  /// access.
  virtual bool takes_artifacts(const StoredRun& run) const = 0;
  /// Uploads a file, replacing an older one.
  /// @param name with `/` between folders
  /// @returns false if it is too large for a server
  virtual bool put_artifact(const StoredRun& run, const std::string& name,
                            const std::string& content) = 0;
};

/// Called before each wait for a server that failed to respond.
using Notify = std::function<void(const std::string&)>;

/// Opens an experiment on a server, and creates it if necessary.
/// @throws Error, as all of its functions do, if the server refuses or does not answer
std::unique_ptr<TrackingStore> open_server(const ServerSettings& settings,
                                           const std::string& experiment, Notify notify);

/// Opens the experiment in the file store `directory`, and creates both if necessary. Ids are
/// derived from names and tags, so that equal runs give equal files.
/// @throws Error, as all of its functions do, if a file cannot be read or written
std::unique_ptr<TrackingStore> open_directory(const std::filesystem::path& directory,
                                              const std::string& experiment);

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
///
/// A run of bench is one MLflow run, and each of its finished workpackages is another. All numeric
/// results are metrics. A pattern with one value is logged at the step of the iteration, one with
/// several values at steps 0, 1, ... in the order of its matches. Texts, units and the reasons of
/// missing values are tags.
/// @param analyses of `stored_analyses_of_each`
/// @param own files are read only from the user's own runs; other runs provide only what the
/// workspace contains
/// @throws Error as the store does
Sent send(const space::Run& run, const workspace::Workspace& workspace,
          const results::Analyses& analyses, bool own, TrackingStore& store,
          const Progressed& progressed);

}  // namespace bench::mlflow
