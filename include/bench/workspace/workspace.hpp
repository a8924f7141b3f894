#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <bench/base/value.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::workspace {

struct Database;

/// What an analyser found for one name in one row.
struct Finding {
  long long workpackage = 0;  ///< The first of the row's iterations.
  std::string name;
  std::optional<Value> value;  ///< None: absent, for `absent_reason`.
  std::string unit;
  bool estimated = false;
  std::string absent_reason;

  bool operator==(const Finding&) const = default;
};

/// The database of one run, `workspace.db` in its directory: facts about the run, its
/// workpackages, their attempts and what the analysers found. docs/reference/workspace.md describes
/// the tables; they are meant to be read with any SQLite client, at any time.
///
/// Write-ahead log and `synchronous=NORMAL` where the directory is on a local file system, a
/// rollback journal and `FULL` elsewhere (the log needs shared memory, which network file systems
/// do not give). One writer at a time: the caller holds a WriterLock.
///
/// A run that JUBE has made is read from its files into a database in memory, which looks the same
/// to its readers.
class Workspace {
 public:
  /// Makes the database of a new run. Readers see it with its first workpackages or not at all: one
  /// without any is a finished run.
  /// @throws Error if it exists or cannot be made
  static Workspace create(const std::filesystem::path& run_directory,
                          const std::map<std::string, std::string>& facts,
                          const Events& first = {});

  enum class Access { read, write };
  /// @throws Error if there is no workspace, or one of a newer version of bench; a run of JUBE's if
  ///         it is to be written
  static Workspace open(const std::filesystem::path& run_directory, Access access);

  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;
  /// Folds the write-ahead log into the one file, so that it can be copied and read anywhere.
  ~Workspace();

  /// A fact about the run, such as `benchmark`, `comment`, `platform`, `input_sha256`.
  /// @throws Error if there is none of that name
  std::string fact(const std::string& name) const;
  std::map<std::string, std::string> facts() const;
  void set_fact(const std::string& name, const std::string& value);

  /// From now on the first that reads rows checks that they fit the benchmark and each other, and
  /// throws if they do not. Counts need no check, which takes as long as they do.
  /// @param commands the number of commands of every step
  void expect_steps(std::map<std::string, std::size_t> commands);

  /// Writes the events in order, in one transaction.
  /// @throws Error if one of them is illegal in the state of its workpackage; then nothing is
  ///         written
  void replay(const Events& events);

  /// Every workpackage, ascending by id.
  std::vector<Workpackage> workpackages() const;
  /// @throws Error if there is none with this id
  Workpackage workpackage(long long id) const;
  /// What the last segment of a workpackage left in its environment, if anything.
  EnvironmentChanges environment(long long id) const;
  /// The same of all workpackages that left something.
  std::unordered_map<long long, EnvironmentChanges> environments() const;
  /// The latest attempts of those that have one, ascending by workpackage.
  std::vector<Attempt> attempts() const;
  /// The UUIDs of all attempts, earlier ones included, of workpackages that have not ended.
  std::unordered_set<std::string> attempts_of_unfinished() const;
  /// The latest attempts of those that are under way or were handed to a batch system: what a bench
  /// that continues the run has to ask about, even if it is one of 100,000.
  std::vector<Attempt> unsettled_attempts() const;
  /// All attempts that were handed to a batch system, earlier ones included, ascending by
  /// workpackage and number.
  std::vector<Attempt> submitted_attempts() const;
  /// One entry per step that has workpackages, in order of their first one.
  std::vector<StepCounts> counts() const;
  /// The commands at which workpackages in the state `waiting` are, by the name of their step.
  std::map<std::string, std::set<int>> waiting_at() const;
  /// When the first attempt was claimed, in seconds since 1970; none where nothing has begun, and
  /// in a run of JUBE's, which does not record it.
  std::optional<double> first_claim_unix_s() const;
  /// When an attempt last began or ended, in seconds since 1970; none where nothing has begun.
  std::optional<double> last_change_unix_s() const;

  /// Whether everything has ended: no workpackage is left to work on, and those of these steps that
  /// are done have their children.
  bool is_finished(const std::set<std::string>& steps_with_children) const;

  /// Runs `action` in one transaction: what it writes becomes visible as a whole, or not at all if
  /// it throws. Inside another transaction it is part of that.
  void at_once(const std::function<void()>& action);

  /// Forgets what an analyser found, and notes that it has seen every workpackage that has ended.
  void begin_findings(const std::string& analyser);
  /// Best many at a time.
  /// @throws Error if the analyser has found one of them already
  void add_findings(const std::string& analyser, const std::vector<Finding>& findings);
  /// Ascending by name, unit and workpackage.
  std::vector<Finding> findings(const std::string& analyser) const;
  /// The same, of these names only: a run may hold millions.
  std::vector<Finding> findings(const std::string& analyser,
                                const std::set<std::string>& names) const;
  /// The names under which an analyser found anything.
  /// @param above only those with a number above this at any workpackage
  std::set<std::string> found_names(const std::string& analyser,
                                    std::optional<double> above = std::nullopt) const;
  /// Whether the analyser has run since the last workpackage ended.
  bool analysed(const std::string& analyser) const;

  /// A new text for one of the database; `place` is the table and column, and what tells the row:
  /// `fact.value document`.
  using Rewrite = std::function<std::string(const std::string& text, const std::string& place)>;
  /// Writes the database, as it is at this moment, into a new file, with every text rewritten.
  /// Nothing of the old texts is left in the file.
  /// @throws Error if it cannot be written
  void copy_to(const std::filesystem::path& file, const Rewrite& rewrite) const;

 private:
  void check_rows() const;
  static Workspace of_jube(const std::filesystem::path& run_directory);
  explicit Workspace(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace bench::workspace
