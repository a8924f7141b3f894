#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::insight {

/// What a user looks up in a run: answered from its workspace and its files, changing neither.
class RunView {
 public:
  /// Reads all workpackages. `run` must outlive this object.
  RunView(const space::Run& run, const workspace::Workspace& workspace);
  /// With workpackages, ascending by id, and latest attempts that were read before.
  RunView(const space::Run& run, const workspace::Workspace& workspace,
          std::vector<workspace::Workpackage> workpackages,
          std::vector<workspace::Attempt> attempts);

  /// Ascending by id.
  const std::vector<workspace::Workpackage>& all() const { return all_; }
  /// @throws Error if there is none with this id
  const workspace::Workpackage& at(long long id) const;

  /// The internal variables of a workpackage: JUBE's in the order of its documentation, then those
  /// that bench adds; `jube_wp_status` is `DONE`, `ERROR` or `RUNNING`.
  workspace::Parameters internal_variables(const workspace::Workpackage& workpackage) const;

  /// The ids of the workpackages that depend directly on this one, ascending.
  const std::vector<long long>& children(long long id) const;

  /// The latest attempt of a workpackage, or null.
  const workspace::Attempt* attempt(long long id) const;

  /// The nodes whose failures ended attempts of a workpackage, the latest last.
  std::vector<std::string> failed_nodes(long long id) const;

  /// The existing files that the commands of a workpackage write their output to, sorted, as far as
  /// `open_output` opens them.
  /// @param standard_error the files of standard error instead of those of standard output
  std::vector<std::filesystem::path> output_files(const workspace::Workpackage& workpackage,
                                                  bool standard_error) const;

 private:
  const space::Run& run_;
  std::vector<workspace::Workpackage> all_;
  std::map<long long, workspace::Attempt> attempts_;
  std::map<long long, std::vector<long long>> children_;
  std::map<long long, std::vector<std::string>> failed_nodes_;
};

/// When the run started, in the reader's time zone.
std::string started(const workspace::Workspace& workspace);

/// The time of the last change of any workpackage, in the reader's time zone, or what JUBE noted;
/// of a run that has not begun when it was made.
std::string last_change(const workspace::Workspace& workspace);
/// The same as seconds since 1970; none where JUBE's note is no time.
std::optional<double> last_change_unix_s(const workspace::Workspace& workspace);

/// The state of a run. `running`: a bench works on it, its jobs are with a batch system, or a
/// workpackage waits for its `done_file`. `stopped`: work is left, but no bench works on it.
/// `finished` or `failed`: every workpackage has ended, none or some of them as failed.
enum class RunState { running, stopped, finished, failed };

/// `running`, ...: the words in every message.
std::string_view name_of(RunState state);

/// @param steps the workpackages of all its steps
RunState run_state(const workspace::RunDirectory& run,
                   const std::vector<workspace::StepCounts>& steps);

}  // namespace bench::insight
