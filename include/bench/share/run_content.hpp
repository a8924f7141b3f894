#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <bench/evaluate/evaluator.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/tidy.hpp>
#include <bench/results/workpackage_values.hpp>
#include <bench/share/secrets.hpp>
#include <bench/share/tracking_store.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::mlflow {

/// A file for MLflow.
struct Artifact {
  std::string name;
  std::filesystem::path file;  ///< Empty: the content is `text`.
  std::string text = {};
};

/// The desired content of an MLflow run.
struct Content {
  NewRun run;
  Batch batch;
  Status status = Status::running;
  std::optional<long long> end_ms;
  std::vector<Artifact> artifacts;
};

/// Maps a run of bench to MLflow runs: one for itself, and one for each finished workpackage.
///
/// All numeric results are metrics. A pattern with one value is logged at the step of the
/// iteration, one with several values at steps 0, 1, ... in the order of its matches. Texts, units
/// and the reasons of missing values are tags.
class RunContent {
 public:
  /// All references must outlive this object.
  /// @param analyses of `stored_analyses_of_each`
  /// @param own files are read only from the user's own runs; other runs provide only what the
  /// workspace contains
  RunContent(const setup::Run& run, const workspace::Workspace& workspace,
             const tabulate::Analyses& analyses, bool own);

  const setup::Run& run() const { return run_; }
  /// Knows the secrets of the run.
  const crate::Scrubber& scrubber() const { return scrubber_; }
  Content parent() const;
  std::size_t ended() const { return ended_.size(); }
  std::size_t open() const { return table_.table.rows.size() - ended_.size(); }
  /// @param number below `ended`
  Content child(std::size_t number) const;

 private:
  void add_found(std::size_t row, const workspace::Workpackage& workpackage, long long time_ms,
                 Batch& batch) const;
  std::vector<Artifact> artifacts_of(const workspace::Workpackage& workpackage) const;

  const setup::Run& run_;
  bool own_;
  tabulate::TidyTable table_;
  inspect::RunView view_;
  mutable evaluate::Evaluator evaluator_;
  workflow::Graph graph_;
  tabulate::WorkpackageValues values_;
  std::vector<std::size_t> ended_;  ///< Indices of workpackages and rows.
  std::optional<double> last_change_unix_s_;
  crate::Scrubber scrubber_;
};

/// The bytes of an artifact; nothing if it is unreadable or larger than 16 MiB.
std::optional<std::string> read_artifact(const setup::Run& run, const Artifact& artifact);

}  // namespace bench::mlflow
