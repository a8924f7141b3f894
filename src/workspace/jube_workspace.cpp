#include "database.hpp"
#include "jube_run.hpp"
#include "parameters_json.hpp"
#include "schema.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::workspace {
namespace {

void bind(SQLite::Statement& statement, int index, long long value) {
  statement.bind(index, static_cast<std::int64_t>(value));
}
void bind(SQLite::Statement& statement, int index, const std::string& value) {
  statement.bind(index, value);
}
template <class Value>
void bind(SQLite::Statement& statement, int index, const std::optional<Value>& value) {
  if (value)
    statement.bind(index, *value);
}

template <class... Values>
void run(SQLite::Database& sqlite, const char* sql, const Values&... values) {
  SQLite::Statement statement(sqlite, sql);
  int index = 0;
  (bind(statement, ++index, values), ...);
  statement.exec();
}

void insert(SQLite::Database& sqlite, const JubeWorkpackage& workpackage) {
  const Workpackage& row = workpackage.row;
  const std::string state(name_of(row.state));
  run(sqlite,
      "INSERT INTO workpackage (id, step, iteration, combination, state, cycle, expanded, "
      "parameters, directory, reason, attempts, environment) "
      "VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?)",
      row.id, row.step, row.iteration, row.combination, state, row.progress.cycle,
      to_json(row.parameters), row.directory, row.reason, row.attempts,
      to_json(workpackage.environment));
  for (const long long parent : row.parents)
    run(sqlite, "INSERT INTO parent (workpackage, parent) VALUES (?, ?)", row.id, parent);
  if (row.attempts > 0)  // where and when it began, JUBE does not keep
    run(sqlite,
        "INSERT INTO attempt (workpackage, number, uuid, host, claimed_unix_s, ended_unix_s, "
        "outcome, reason) VALUES (?, 1, ?, '', 0, ?, ?, ?)",
        row.id, "jube-" + std::to_string(row.id), workpackage.ended_unix_s,
        row.has_ended() ? state : std::string(), row.reason);
}

}  // namespace

Workspace Workspace::of_jube(const std::filesystem::path& run_directory) {
  const JubeRun jube = read_jube_run(run_directory);
  Workspace workspace(std::make_unique<Database>(
      SQLite::Database(":memory:",
                       SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_NOMUTEX),
      /*ends_without_log=*/false));
  SQLite::Database& sqlite = workspace.database_->sqlite;
  translated(sqlite, [&] { sqlite.exec(schema); });
  workspace.at_once([&] {
    for (const auto& [name, value] : jube.facts)
      workspace.set_fact(name, value);
    for (const JubeWorkpackage& workpackage : jube.workpackages)
      insert(sqlite, workpackage);
    for (const auto& [analyser, findings] : jube.findings) {
      workspace.begin_findings(analyser);
      workspace.add_findings(analyser, findings);
    }
    if (!jube.analysed_since)
      sqlite.exec("DELETE FROM analysis");
  });
  return workspace;
}

}  // namespace bench::workspace
