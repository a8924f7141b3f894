#include "database.hpp"
#include "parameters_json.hpp"

#include <initializer_list>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::workspace {
namespace {

/// What writes the changes of one transaction.
class Writer {
 public:
  explicit Writer(Statements& statements) : statements_(statements) {}

  void create(const std::vector<Workpackage>& workpackages) {
    SQLite::Statement& insert = statements_.of(
        "INSERT INTO workpackage (id, step, iteration, combination, state, "
        "reason, parameters, directory) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    SQLite::Statement& insert_parent =
        statements_.of("INSERT INTO parent (workpackage, parent) VALUES (?, ?)");
    for (const Workpackage& workpackage : workpackages) {
      run(insert, workpackage.id, workpackage.step, workpackage.iteration, workpackage.combination,
          std::string(name_of(workpackage.state)), workpackage.reason,
          to_json(workpackage.parameters), workpackage.directory);
      for (const long long parent : workpackage.parents)
        run(insert_parent, workpackage.id, parent);
    }
  }

  void expand(const std::vector<long long>& ids) {
    SQLite::Statement& update = statements_.of("UPDATE workpackage SET expanded = 1 WHERE id = ?");
    for (const long long id : ids)
      run(update, id);
  }

  void claim(const std::vector<Claim>& claims) {
    SQLite::Statement& update = statements_.of(
        "UPDATE workpackage SET state = 'running', attempts = attempts + 1, "
        "reason = '' WHERE id = ? AND state = 'ready'");
    SQLite::Statement& insert = statements_.of(
        "INSERT INTO attempt (workpackage, number, uuid, host, "
        "claimed_unix_s) SELECT id, attempts, ?, ?, ? FROM workpackage "
        "WHERE id = ?");
    const double now = unix_time_now();
    for (const Claim& claim : claims) {
      transition(update, claim.workpackage, "started", claim.workpackage);
      run(insert, claim.uuid, claim.host, now, claim.workpackage);
    }
  }

  void book(const std::vector<Booking>& bookings) {
    SQLite::Statement& attempt =
        statements_.of(std::string("UPDATE attempt SET submission = ?, task = ? ") + latest);
    for (const Booking& booking : bookings)
      run(attempt, booking.submission, booking.task, booking.workpackage);
  }

  void submit(const std::vector<Submission>& submissions) {
    SQLite::Statement& update = statements_.of(
        "UPDATE workpackage SET state = 'submitted' WHERE id = ? AND state = 'running'");
    SQLite::Statement& attempt =
        statements_.of(std::string("UPDATE attempt SET job_id = ? ") + latest);
    for (const Submission& submission : submissions) {
      transition(update, submission.workpackage, "submitted", submission.workpackage);
      run(attempt, submission.job_id, submission.workpackage);
    }
  }

  void end(const std::vector<Ending>& endings) {
    SQLite::Statement& update = statements_.of(
        std::string("UPDATE workpackage SET state = ?2, reason = ?3, environment = ?4 "
                    "WHERE id = ?1 AND ") +
        under_way);
    SQLite::Statement& attempt = end_of_attempt();
    for (const Ending& ending : endings) {
      transition(update, ending.workpackage, "ended", ending.workpackage,
                 ending.outcome == Outcome::done ? "done" : "failed", to_valid_utf8(ending.reason),
                 to_json(ending.environment));
      end_attempt(attempt, ending);
    }
  }

  void repeat(const std::vector<Repetition>& repetitions) {
    SQLite::Statement& update = statements_.of(
        std::string("UPDATE workpackage SET state = 'ready', prepared = 0, cycle = 0, command = 0, "
                    "environment = NULL, retries = retries + 1, timeouts = timeouts + ?2 "
                    "WHERE id = ?1 AND ") +
        under_way);
    SQLite::Statement& attempt = end_of_attempt();
    for (const Repetition& repetition : repetitions) {
      const Ending& ending = repetition.ending;
      transition(update, ending.workpackage, "made again", ending.workpackage,
                 ending.outcome == Outcome::timeout ? 1 : 0);
      end_attempt(attempt, ending);
    }
  }

  void interrupt(const std::vector<Interruption>& interruptions) {
    SQLite::Statement& update = statements_.of(
        "UPDATE workpackage SET state = 'ready' WHERE id = ? AND "
        "state IN ('running', 'submitted')");
    SQLite::Statement& attempt = statements_.of(
        std::string("UPDATE attempt SET ended_unix_s = ?, reason = ?, outcome = 'interrupted' ") +
        latest);
    for (const Interruption& interruption : interruptions) {
      transition(update, interruption.workpackage, "made ready again", interruption.workpackage);
      run(attempt, unix_time_now(), interruption.reason, interruption.workpackage);
    }
  }

  void advance(const std::vector<Advance>& advances) {
    SQLite::Statement& update =
        statements_.of(std::string("UPDATE workpackage SET state = ?2, prepared = ?3, cycle = ?4, "
                                   "command = ?5, environment = ?6 WHERE id = ?1 AND ") +
                       under_way);
    SQLite::Statement& attempt =
        statements_.of(std::string("UPDATE attempt SET ended_unix_s = coalesce(ended_unix_s, ?), "
                                   "outcome = iif(outcome = '', 'done', outcome) ") +
                       latest);
    for (const Advance& advance : advances) {
      const Progress& progress = advance.progress;
      transition(update, advance.workpackage, "taken further", advance.workpackage,
                 std::string(name_of(advance.to)), progress.prepared ? 1 : 0, progress.cycle,
                 progress.command, to_json(advance.environment));
      run(attempt, unix_time_now(), advance.workpackage);
    }
  }

  void reset(const std::vector<long long>& ids) {
    SQLite::Statement& update = statements_.of(
        "UPDATE workpackage SET state = 'ready', expanded = 0, prepared = 0, "
        "cycle = 0, command = 0, reason = '', environment = NULL, "
        "retries = 0, timeouts = 0 "
        "WHERE id = ? AND state IN ('ready', 'pending', 'done', 'failed')");
    for (const long long id : ids)
      transition(update, id, "removed", id);
    delete_for_all(ids, {forget_findings});
    forget_analysis_of(ids);
  }

  void remove(const std::vector<long long>& ids) {
    delete_for_all(
        ids, {forget_findings, "DELETE FROM attempt WHERE workpackage IN ",
              "DELETE FROM parent WHERE workpackage IN ", "DELETE FROM parent WHERE parent IN ",
              "DELETE FROM workpackage WHERE id IN "});
    forget_analysis_of(ids);
  }

 private:
  static constexpr const char* forget_findings =
      "DELETE FROM found_value WHERE name IN (SELECT id FROM found_name) AND workpackage IN ";

  /// Completes the statements by the list of ids: where there is no index for one, all of them
  /// together take one pass.
  void delete_for_all(const std::vector<long long>& ids,
                      std::initializer_list<const char*> statements) {
    if (ids.empty())
      return;
    const std::string list = nlohmann::json(ids).dump();
    for (const char* sql : statements)
      run(statements_.of(std::string(sql) + "(SELECT value FROM json_each(?))"), list);
  }

  /// Once as many have ended again, an analysis would pass for one of them.
  void forget_analysis_of(const std::vector<long long>& ids) {
    if (!ids.empty())
      run(statements_.of("DELETE FROM analysis"));
  }

  SQLite::Statement& end_of_attempt() {
    return statements_.of(std::string("UPDATE attempt SET ended_unix_s = ?, started_unix_s = ?, "
                                      "exit_code = ?, outcome = ?, reason = ?, "
                                      "host = iif(? = '', host, ?) ") +
                          latest);
  }

  void end_attempt(SQLite::Statement& statement, const Ending& ending) {
    run(statement, ending.ended_unix_s.value_or(unix_time_now()), ending.started_unix_s,
        ending.exit_code, std::string(name_of(ending.outcome)), to_valid_utf8(ending.reason),
        ending.host, ending.host, ending.workpackage);
  }

  /// No IN, for which SQLite builds a table each time.
  static constexpr const char* under_way =
      "(state = 'running' OR state = 'submitted' OR state = 'pending')";
  static constexpr const char* latest =
      "WHERE workpackage = (SELECT id FROM workpackage WHERE id = ?) AND number = "
      "(SELECT attempts FROM workpackage WHERE id = attempt.workpackage)";

  template <class T>
  static void bind(SQLite::Statement& statement, int index, const T& value) {
    if constexpr (std::is_same_v<T, long long>)
      statement.bind(index, static_cast<std::int64_t>(value));
    else
      statement.bind(index, value);
  }
  template <class T>
  static void bind(SQLite::Statement& statement, int index, const std::optional<T>& value) {
    if (value)
      bind(statement, index, *value);
    else
      statement.bind(index);
  }

  /// Binds the values in order, runs the statement and returns the number of changed rows.
  template <class... Values>
  static int run(SQLite::Statement& statement, const Values&... values) {
    statement.tryReset();  // an earlier transaction may have failed in the middle of it
    [[maybe_unused]] int index = 0;
    (bind(statement, ++index, values), ...);
    const int changed = statement.exec();
    statement.reset();
    return changed;
  }

  template <class... Values>
  void transition(SQLite::Statement& statement, long long id, const char* what,
                  const Values&... values) {
    if (run(statement, values...) != 1)
      throw Error(
          fmt::format("workpackage {} cannot be {}: it is not in the state for that", id, what),
          "did another program change the workspace?");
  }

  Statements& statements_;
};

}  // namespace

void Workspace::apply(const Changes& changes) {
  if (changes.empty())
    return;
  at_once([&] {
    Writer writer(database_->statements);
    // A workpackage may arrive somewhere and end there in one go.
    writer.advance(changes.advances);
    writer.end(changes.endings);
    writer.interrupt(changes.interruptions);
    writer.repeat(changes.repetitions);
    writer.reset(changes.reset);
    writer.remove(changes.removed);
    writer.create(changes.created);
    writer.expand(changes.expanded);
    writer.claim(changes.claims);
    writer.book(changes.bookings);
    writer.submit(changes.submissions);
  });
}

}  // namespace bench::workspace
