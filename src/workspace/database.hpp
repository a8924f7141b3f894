#pragma once

#include <exception>
#include <map>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>
#include <nlohmann/json.hpp>
#include <sqlite3.h>

#include <bench/base/error.hpp>
#include <bench/workspace/workspace.hpp>

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

struct Workspace::Database {
  Database(SQLite::Database opened, bool for_writing)
      : sqlite(std::move(opened)), writes(for_writing) {}

  SQLite::Database sqlite;
  bool writes;
  Statements statements{sqlite};
};

inline Error damaged(const SQLite::Database& sqlite, const std::string& what) {
  return Error("the workspace " + sqlite.getFilename() + " is damaged: " + what,
               "bench has not written this; the output of the workpackages is beside it");
}

/// Runs `action` and turns SQLite's exceptions into bench's, which say what to do.
template <class Action>
auto translated(const SQLite::Database& sqlite, Action action) {
  try {
    return action();
  } catch (const SQLite::Exception& failure) {
    const int code = failure.getErrorCode();
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR)
      throw damaged(sqlite, failure.what());
    throw Error("the workspace " + sqlite.getFilename() + " failed: " + failure.what(),
                "is the disk full, or the quota used up? nothing that was recorded is lost");
  } catch (const nlohmann::json::exception& failure) {
    throw damaged(sqlite, failure.what());
  }
}

}  // namespace bench::workspace
