#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <bench/base/outcome.hpp>
#include <bench/base/process.hpp>
#include <bench/machine/file_operation.hpp>

namespace bench::machine {

/// One shell command of a workpackage.
struct Snippet {
  std::string text;                   ///< Empty: only the operations in `before` are done.
  std::filesystem::path stdout_file;  ///< Appended to.
  std::filesystem::path stderr_file;
  std::filesystem::path directory = {};  ///< Where it runs, made if missing; empty: the job's.
  std::string name = {};                 ///< Name in messages, for example `command 2 of 3`.
  /// Operations before the command, in order.
  std::vector<FileOperation> before = {};
};

/// One attempt of a workpackage, ready to start: either snippets that run one after the other under
/// the shell, each seeing the variables that the ones before it exported, or a job script.
struct Job {
  long long workpackage = 0;
  std::string uuid;                      ///< Also in the environment, as BENCH_ATTEMPT.
  std::filesystem::path directory;       ///< Of the workpackage.
  std::filesystem::path work_directory;  ///< Where its commands run.
  Environment environment;               ///< Complete.
  bool keep_environment = false;         ///< The completion has the last snippet's.
  std::vector<Snippet> snippets;
  std::filesystem::path script;  ///< Of a batch step; otherwise empty.
  /// What starts the script on a node of its own, such as `srun ...`; empty: it runs here.
  std::vector<std::string> script_launcher = {};
  /// It has its own share of an allocation, so that it does not count among those that run here.
  bool has_own_share = false;
  std::filesystem::path sentinel;  ///< The script or the last snippet writes it at its end.
  double timeout_s = 0;            ///< 0: none.
  int at_once =
      1;  ///< How many attempts may run here at a time while this one does, itself included.

  bool is_batch() const { return !script.empty(); }
};

/// How an attempt ended, with what decides whether another one follows. `interrupted`: it did not
/// end by itself, so that it says nothing about the workpackage.
struct Completion : AttemptEnd {
  long long workpackage = 0;
  /// With `interrupted`: the machine (a full disk, too many open files) stopped it, so that another
  /// try at once would fail, too.
  bool held_up = false;
  /// With `interrupted`: the batch system lost the job before it began.
  bool lost_in_queue = false;
  /// A later attempt has begun since, and the directory belongs to it.
  bool superseded = false;
  /// The environment at the end, if the job asked for it.
  std::optional<Environment> environment;
};

}  // namespace bench::machine
