#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/outcome.hpp>
#include <bench/base/process.hpp>

namespace bench::machine {

/// What a batch system says of a partition.
struct Partition {
  std::string name;
  bool is_default = false;
  bool takes_jobs = true;
  std::optional<double> max_time_s;       ///< None: no limit.
  int max_nodes = 0;                      ///< Of a job; never more than there are.
  std::vector<std::string> accounts;      ///< Allowed ones; empty: all.
  std::vector<std::string> qos;           ///< The same.
  std::optional<int> most_gpus_per_node;  ///< None: it says nothing of GPUs.
  std::optional<int> threads_per_core;    ///< The most of a node; none: it says nothing.
  int nodes = 0;                          ///< That it has; 0: unknown.
};

struct Partitions {
  bool known = false;          ///< `all` is the whole list.
  std::vector<Partition> all;  ///< In the order of the batch system.
  std::string failure;         ///< Why the batch system did not answer; empty: it did.
};

/// An account that this user may charge, with the QOS that go with it.
struct Association {
  std::string account;
  std::vector<std::string> qos;
};

/// A job script on its way to a batch system.
struct Submission {
  std::string uuid;  ///< In the job's comment, which the script sets.
  std::string name;  ///< Of the job, as the script sets it.
  std::filesystem::path script;
  std::filesystem::path directory;  ///< Where it is handed over, and where the job begins.
  Environment environment;          ///< Complete.
  bool is_array = false;
};

/// Result of a submission.
struct SubmitResult {
  enum class Kind {
    accepted,
    refused,     ///< Another try would fail, too.
    full,        ///< Not accepted: the user has reached a limit on jobs. Try later.
    unavailable  ///< The batch system does not answer; it may have the job.
  };
  Kind kind = Kind::accepted;
  std::string id;      ///< Of the job; of the array for an array.
  std::string reason;  ///< Its message, where it did not accept.
};

/// What a batch system says of one job, or of one task of an array.
struct JobReport {
  enum class State {
    pending,
    running,
    without_nodes,  ///< It waits for nodes that are down or drained.
    blocked,        ///< It waits for something that needs a person.
    ended
  };
  std::string id;       ///< As users write it: `123`, or `123_4` for a task; see systems.hpp.
  std::string comment;  ///< Our UUID, unless somebody has changed it; empty where none is kept.
  std::string name;
  std::optional<int> task;  ///< Of an array.
  State state = State::pending;
  Outcome outcome = Outcome::failed;  ///< Of an ended job; `done` says only that it ended normally.
  std::string word;                   ///< The system's own word for the state.
  std::string reason;                 ///< Why it waits or how it ended; may be empty.
  std::string host;                   ///< Of its first node; empty where unknown.
};

/// Answer of a batch system. With `failure` nothing is known: an empty list then does not mean that
/// there are no jobs.
struct QueryResult {
  std::vector<JobReport> jobs;
  std::string failure;  ///< Empty: it answered.
};

/// A batch system, used through its programs.
class BatchSystem {
 public:
  virtual ~BatchSystem() = default;

  /// The name in messages.
  virtual std::string name() const = 0;
  virtual SubmitResult submit(const Submission& submission) = 0;
  /// The jobs with these ids that it holds in memory, for some minutes also ended ones; tasks of
  /// arrays one by one. Unknown ids are left out. One call of the system's program.
  virtual QueryResult ask(const std::vector<std::string>& ids) = 0;
  /// The same of all jobs of this user, for those whose ids nobody has recorded.
  virtual QueryResult ask_for_all() = 0;
  /// Queries the accounting for ended jobs that it no longer holds in memory; one call. Without
  /// accounting the answer is empty.
  virtual QueryResult query_accounting(const std::vector<std::string>& ids) = 0;
  /// Cancels jobs; `123_4` is a task. Unknown ids, and jobs that have ended, are left out. One that
  /// cannot be cancelled keeps none of the others.
  /// @returns its first message where it failed, else an empty text
  virtual std::string cancel(const std::vector<std::string>& ids) = 0;
  /// How many tasks an array may have; 1 where there are no arrays.
  virtual int max_array_size() = 0;
  /// The partitions of the cluster that jobs go to. Not known where the batch system does not list
  /// any, or where jobs go to one of several clusters.
  virtual Partitions ask_partitions() { return {}; }
  /// The accounts and QOS of this user on the clusters that jobs go to; empty where the batch
  /// system does not say.
  virtual std::vector<Association> ask_associations() { return {}; }
  /// How a job ended by what the system's daemons wrote into a file of its errors; nothing if they
  /// wrote nothing of that job.
  /// @param job as the daemons know it; empty: every line is of the job
  virtual std::optional<Outcome> end_told_in(const std::filesystem::path&,
                                             std::string_view /*job*/) const {
    return std::nullopt;
  }
  /// The node whose failure has ended a job; empty where the system attributes it to none.
  /// @param errors file with the errors of the job's programs
  virtual std::string failed_node(const JobReport& /*job*/,
                                  const std::filesystem::path& /*errors*/) {
    return "";
  }
};

}  // namespace bench::machine
