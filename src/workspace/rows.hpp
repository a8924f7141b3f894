#pragma once

#include "database.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include <bench/workspace/workpackage.hpp>

namespace bench::workspace {

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

inline void bind(SQLite::Statement& statement, int index, long long value) {
  statement.bind(index, static_cast<std::int64_t>(value));
}
template <class Value>
void bind(SQLite::Statement& statement, int index, const Value& value) {
  statement.bind(index, value);
}
template <class Value>
void bind(SQLite::Statement& statement, int index, const std::optional<Value>& value) {
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

}  // namespace bench::workspace
