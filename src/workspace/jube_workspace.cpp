#include "jube_run.hpp"
#include "rows.hpp"
#include "schema.hpp"

#include <filesystem>
#include <memory>
#include <string>

#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::workspace {
namespace {

void insert(Statements& statements, const JubeWorkpackage& workpackage) {
  const Workpackage& row = workpackage.row;
  insert(statements, row, workpackage.environment);
  if (row.attempts > 0)  // where and when it began, JUBE does not keep
    insert(statements, {.workpackage = row.id,
                        .number = 1,
                        .uuid = "jube-" + std::to_string(row.id),
                        .outcome = row.has_ended() ? std::string(name_of(row.state)) : "",
                        .ended_unix_s = workpackage.ended_unix_s,
                        .reason = row.reason});
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
      insert(workspace.database_->statements, workpackage);
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
