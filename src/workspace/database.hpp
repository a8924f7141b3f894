#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <SQLiteCpp/SQLiteCpp.h>
#include <nlohmann/json.hpp>
#include <sqlite3.h>

#include <bench/base/error.hpp>
#include <bench/base/outage.hpp>
#include <bench/base/value.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::workspace {

/// Statements that stay prepared: for one workpackage SQLite takes longer to understand them than
/// to execute them.
class Statements {
 public:
  explicit Statements(SQLite::Database& sqlite) : sqlite_(sqlite) {}

  SQLite::Statement& of(const std::string& sql) {
    const auto found = prepared_.find(sql);
    return found != prepared_.end() ? found->second
                                    : prepared_.try_emplace(sql, sqlite_, sql).first->second;
  }
  void forget() { prepared_.clear(); }

 private:
  SQLite::Database& sqlite_;
  std::map<std::string, SQLite::Statement> prepared_;
};

/// The open database of a run.
struct Database {
  Database(SQLite::Database opened, bool ends_without_log)
      : sqlite(std::move(opened)), folds_log_in(ends_without_log) {}

  SQLite::Database sqlite;
  bool folds_log_in;  ///< When it is closed: who may only read cannot take part in a log.
  Statements statements{sqlite};
  /// The number of commands of every step; none where the rows fit, or nobody has said.
  std::optional<std::map<std::string, std::size_t>> expected_steps;
};

inline Error damaged(const SQLite::Database& sqlite, const std::string& what) {
  return Error(Id::damaged_data, "the workspace " + sqlite.getFilename() + " is damaged: " + what,
               "bench has not written this; the output of the workpackages is beside it");
}

/// Whether the file is at fault, and not the machine.
inline bool means_damage(const SQLite::Exception& failure) {
  const int code = failure.getErrorCode();
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR;
}

/// What to do about a failure of SQLite.
inline std::string hint_for(const SQLite::Exception& failure) {
  switch (failure.getErrorCode()) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:
      return "";
    case SQLITE_FULL:
      return "is the disk full, or the quota used up? nothing that was recorded is lost";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return "another program holds the file, or its file system cannot lock files now; nothing "
             "that was recorded is lost";
    case SQLITE_CANTOPEN:
      return "may you write in the run directory, and is its file system there? nothing that was "
             "recorded is lost";
    case SQLITE_CONSTRAINT:
      return "did another program change the workspace? nothing that was recorded is lost";
    default:
      return "does the file system answer, and is there room left? nothing that was recorded is "
             "lost";
  }
}

/// Runs `action` and turns SQLite's exceptions into bench's, which say what to do.
template <class Action>
auto translated(const SQLite::Database& sqlite, Action action) {
  try {
    return action();
  } catch (const SQLite::Exception& failure) {
    if (means_damage(failure))
      throw damaged(sqlite, failure.what());
    if (failure.getErrorCode() == SQLITE_CONSTRAINT)
      throw Error(Id::damaged_data,
                  "the workspace " + sqlite.getFilename() + " failed: " + failure.what(),
                  hint_for(failure));
    throw MachineError(Id::system_error,
                       "the workspace " + sqlite.getFilename() + " failed: " + failure.what(),
                       hint_for(failure));
  } catch (const nlohmann::json::exception&) {
    throw damaged(sqlite, "a value that has to be JSON is not");
  }
}

inline void bind(SQLite::Statement& statement, int index, long long value) {
  statement.bind(index, static_cast<std::int64_t>(value));
}
template <class Some>
void bind(SQLite::Statement& statement, int index, const Some& value) {
  statement.bind(index, value);
}
inline void bind(SQLite::Statement& statement, int index, const Value& value) {
  std::visit([&](const auto& held) { bind(statement, index, held); }, value);
}
template <class Some>
void bind(SQLite::Statement& statement, int index, const std::optional<Some>& value) {
  if (value)
    bind(statement, index, *value);
  else
    statement.bind(index);
}

/// Binds the values in order, runs the statement and returns the number of changed rows.
template <class... Values>
int run(SQLite::Statement& statement, const Values&... values) {
  statement.tryReset();  // an earlier transaction may have failed in the middle of it
  [[maybe_unused]] int index = 0;
  (bind(statement, ++index, values), ...);
  const int changed = statement.exec();
  statement.reset();
  return changed;
}

// Reads and writes the tables `workpackage`, `parent` and `attempt`.

/// The statement for `read_workpackage`.
/// @param rest its WHERE and ORDER BY
std::string select_workpackages(const std::string& rest);
/// Does not read the parents, which are in a table of their own.
Workpackage read_workpackage(SQLite::Statement& row);

/// The statement for `read_attempt`.
/// @param from its FROM, with `attempt AS a`, and what follows
std::string select_attempts(const std::string& from);
Attempt read_attempt(SQLite::Statement& row);

EnvironmentChanges read_environment(const SQLite::Database& sqlite, SQLite::Statement& row,
                                    int column, long long workpackage);

std::optional<double> optional_real(SQLite::Statement& row, int column);

/// A new workpackage, with its parents.
void insert(Statements& statements, const Workpackage& workpackage,
            const EnvironmentChanges& environment = {});
/// A new attempt.
void insert(Statements& statements, const Attempt& attempt);

/// Reads the id and the columns that can change; nullopt if there is no such workpackage.
std::optional<Workpackage> read_state(Statements& statements, long long id);
/// Writes the columns that can change.
/// @param environment of the last segment; null leaves the stored one
void update_state(Statements& statements, const Workpackage& workpackage,
                  const EnvironmentChanges* environment);

/// Nullopt if the workpackage was never started.
std::optional<Attempt> read_latest_attempt(Statements& statements, const Workpackage& workpackage);
void update(Statements& statements, const Attempt& attempt);

/// Raised by one with every change to the tables, which raises the version of bench, too; a
/// database with another one is refused.
constexpr int schema_version = 8;

/// The tables of a run. docs/reference/workspace.md describes them for those who query them.
constexpr const char* schema = R"sql(
CREATE TABLE fact (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE workpackage (
  id INTEGER PRIMARY KEY,
  step TEXT NOT NULL,
  iteration INTEGER NOT NULL,
  combination INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state = 'ready' OR state = 'running' OR state = 'submitted'
    OR state = 'waiting' OR state = 'done' OR state = 'failed' OR state = 'skipped'),  -- IN would build a table each time
  prepared INTEGER NOT NULL DEFAULT 0,
  cycle INTEGER NOT NULL DEFAULT 0,
  command INTEGER NOT NULL DEFAULT 0,
  expanded INTEGER NOT NULL DEFAULT 0,
  expanded_ahead INTEGER NOT NULL DEFAULT 0,
  parameters TEXT NOT NULL CHECK (json_valid(parameters)),
  directory TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  attempts INTEGER NOT NULL DEFAULT 0,
  retries INTEGER NOT NULL DEFAULT 0,
  timeouts INTEGER NOT NULL DEFAULT 0,
  times_lost INTEGER NOT NULL DEFAULT 0,
  environment TEXT CHECK (environment IS NULL OR json_valid(environment))
) STRICT;
CREATE INDEX workpackage_by_step ON workpackage (step, state);

CREATE TABLE parent (
  workpackage INTEGER NOT NULL REFERENCES workpackage (id),
  parent INTEGER NOT NULL REFERENCES workpackage (id),
  PRIMARY KEY (workpackage, parent)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempt (
  workpackage INTEGER NOT NULL REFERENCES workpackage (id),
  number INTEGER NOT NULL,
  uuid TEXT NOT NULL UNIQUE,
  host TEXT NOT NULL,
  job_id TEXT NOT NULL DEFAULT '',
  submission TEXT NOT NULL DEFAULT '',
  task INTEGER,
  waits_for TEXT NOT NULL DEFAULT '',
  claimed_unix_s REAL NOT NULL,
  started_unix_s REAL,
  ended_unix_s REAL,
  exit_code INTEGER,
  outcome TEXT NOT NULL DEFAULT '',
  reason TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (workpackage, number)
) STRICT, WITHOUT ROWID;

-- What is found is mostly a number, and there may be millions: names and units stand here once.
CREATE TABLE found_name (
  id INTEGER PRIMARY KEY,
  analyser TEXT NOT NULL,
  name TEXT NOT NULL,
  unit TEXT NOT NULL,
  UNIQUE (analyser, name, unit)
) STRICT;

-- By name first, as results ask for it: some columns of all workpackages.
CREATE TABLE found_value (
  name INTEGER NOT NULL REFERENCES found_name (id),
  workpackage INTEGER NOT NULL REFERENCES workpackage (id),
  value ANY,
  estimated INTEGER NOT NULL DEFAULT 0,
  absent_reason TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (name, workpackage)
) STRICT, WITHOUT ROWID;

CREATE VIEW finding AS
SELECT n.analyser, v.workpackage, n.name, v.value, n.unit, v.estimated, v.absent_reason
FROM found_name AS n JOIN found_value AS v ON v.name = n.id;

CREATE TABLE analysis (
  analyser TEXT PRIMARY KEY,
  ended_workpackages INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row per analysed workpackage: what was asked, what came of it, and where it ran.
CREATE VIEW results AS
SELECT
  f.analyser,
  w.id AS workpackage,
  w.step,
  w.iteration,
  w.state,
  w.reason,
  w.retries,
  w.parameters,
  json_group_object(f.name, f.value) FILTER (WHERE f.value IS NOT NULL) AS findings,
  json_group_object(f.name, f.absent_reason) FILTER (WHERE f.absent_reason <> '') AS absent,
  max(f.estimated) AS estimated,
  a.host,
  a.job_id,
  a.started_unix_s,
  a.ended_unix_s,
  a.exit_code,
  (SELECT value FROM fact WHERE name = 'input_sha256') AS input_sha256,
  (SELECT value FROM fact WHERE name = 'platform') AS platform,
  (SELECT value FROM fact WHERE name = 'cpu') AS cpu,
  (SELECT value FROM fact WHERE name = 'gpus') AS gpus
FROM finding AS f
JOIN workpackage AS w ON w.id = f.workpackage
LEFT JOIN attempt AS a ON a.workpackage = w.id AND a.number = w.attempts
GROUP BY f.analyser, w.id;
)sql";

}  // namespace bench::workspace
