#pragma once

#include <deque>
#include <set>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/insight/difference.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/report.hpp>
#include <bench/space/input.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::cli {

/// An input file that replaces the one of a run, with the options for reading it.
struct Update {
  std::string file;  ///< Empty: none.
  std::vector<std::string> tags;
  std::vector<std::string> include_path;

  space::Request request() const;
  /// The run with the patterns, analysers and results of the file.
  space::Run applied_to(const space::Run& run) const;
};

/// Which values of an analysis are read: those in the results, or all of each workpackage.
enum class Found { in_rows, in_workpackages };

/// A run, its workspace open for reading, and the results of its analysers.
struct Evaluated {
  space::Run run;
  workspace::Workspace workspace;
  results::Analyses analyses;
  bool own = false;      ///< The run belongs to the user, so code of its benchmark may be executed.
  bool writable = true;  ///< Results can be saved in it, as far as is known.
};

/// Analyses a run and saves the results and the update; for a JUBE run, neither.
/// @throws Error if another bench works on the run
void analyse_directory(const workspace::RunDirectory& directory, const Update& update);

/// Opens a run and analyses it if requested or needed. The results are not saved if another bench
/// process works on the run, the disk is full or the file system read-only. Another user's run is
/// shown as its owner last analysed it, since analysing executes code of the benchmark.
Evaluated evaluate(const workspace::RunDirectory& directory, const Update& update,
                   bool analyse_again, Found found = Found::in_rows);

/// The results of a run. Code of its benchmark is executed only for an own run.
/// @param run that of `one`, or a copy with other columns
/// @param only the names of those to make; empty: all
/// @param failures of the results that cannot be made; null: the first is thrown
results::Report report_of(const Evaluated& one, const space::Run& run,
                          const std::set<std::string>& only = {}, Failures* failures = nullptr);

/// Lets this process open as many files as it may: a command over all runs may keep each of them
/// open. Programs that it starts have the same limit from then on.
void allow_many_open_runs();

/// `runs/000003 (sweep, started 2026-01-31 12:05:09)`
/// @param further follows the path
std::string description_of(const Evaluated& one, const std::string& further = "");

/// @returns why a run cannot be read; empty if it can
std::string why_unsound(const std::function<void()>& read);

/// Reads one of many runs. If that fails, a note says why the run is left out.
void skip_if_unsound(const workspace::RunDirectory& directory, const std::function<void()>& read);

/// Runs with the results of each workpackage, for commands that compare them. Each run is read
/// once.
class EvaluatedRuns {
 public:
  /// Stays valid.
  const Evaluated& read(const workspace::RunDirectory& directory);
  /// Null, with a note that says why, for a run that cannot be read, such as one with a damaged
  /// database.
  const Evaluated* read_if_sound(const workspace::RunDirectory& directory);
  std::vector<insight::Side> sides(const std::vector<workspace::RunDirectory>& directories);

 private:
  std::deque<Evaluated> read_;
};

}  // namespace bench::cli
