#include "database.hpp"
#include "file_system.hpp"
#include "schema.hpp"

#include <string>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::workspace {
namespace {

namespace fs = std::filesystem;

constexpr int busy_timeout_ms = 10'000;

void set_journal(SQLite::Database& sqlite, const fs::path& directory) {
  const bool local = on_local_file_system(directory);
  const char* wanted = local ? "wal" : "truncate";
  // SQLite answers with the mode that it really took.
  const std::string taken =
      sqlite.execAndGet(fmt::format("PRAGMA journal_mode={}", wanted)).getString();
  const bool safe_with_normal = taken == "wal";
  sqlite.exec(fmt::format("PRAGMA synchronous={}", safe_with_normal ? "NORMAL" : "FULL"));
}

/// Source: https://www.sqlite.org/uri.html, 3.1.
std::string uri_path(const fs::path& file) {
  return replace_all(replace_all(replace_all(file.string(), "%", "%25"), "?", "%3f"), "#", "%23");
}

/// A reader that cannot write beside the database (another user's run) cannot take part in the
/// write-ahead log; what the file holds is then all there is to see.
SQLite::Database open_to_read(const fs::path& file) {
  try {
    SQLite::Database sqlite(file.string(), SQLite::OPEN_READONLY, busy_timeout_ms);
    sqlite.execAndGet("SELECT count(*) FROM fact");
    return sqlite;
  } catch (const SQLite::Exception&) {
    return {"file:" + uri_path(file) + "?immutable=1", SQLite::OPEN_READONLY | SQLite::OPEN_URI,
            busy_timeout_ms};
  }
}

void check_version(SQLite::Database& sqlite, const fs::path& file) {
  const int version = sqlite.execAndGet("PRAGMA user_version").getInt();
  if (version > schema_version)
    throw Error(fmt::format("{} was written by a newer version of bench", file.string()),
                "read it with that version");
  if (version < 1)
    throw Error(fmt::format("{} is no workspace of bench", file.string()));
  if (version < schema_version)
    throw Error(fmt::format("{} was written by an older version of bench", file.string()),
                "read it with that version, or run the benchmark again");
}

}  // namespace

Workspace::Workspace(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

Workspace::~Workspace() {
  if (!database_ || !database_->writes)
    return;
  try {
    database_->sqlite.setBusyTimeout(0);  // a reader may look for as long as it likes
    database_->sqlite.exec("PRAGMA journal_mode=DELETE");
  } catch (const SQLite::Exception&) {
    // A reader is looking: the log stays beside the database, and the next writer folds it in.
  }
}

Workspace Workspace::create(const fs::path& run_directory,
                            const std::map<std::string, std::string>& facts) {
  const fs::path file = run_directory / "workspace.db";
  // Complete under its name or not there at all, so that a kill in between leaves no half of it.
  const fs::path draft = run_directory / "workspace.db.new";
  std::error_code failed;
  if (fs::exists(file, failed))
    throw Error(fmt::format("cannot make the workspace {}: it exists", file.string()));
  try {
    SQLite::Database sqlite(draft.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                            busy_timeout_ms);
    SQLite::Transaction transaction(sqlite, SQLite::TransactionBehavior::IMMEDIATE);
    sqlite.exec(schema);
    sqlite.exec(fmt::format("PRAGMA user_version={}", schema_version));
    SQLite::Statement insert(sqlite, "INSERT INTO fact (name, value) VALUES (?, ?)");
    for (const auto& [name, value] : facts) {
      insert.bind(1, name);
      insert.bind(2, value);
      insert.exec();
      insert.reset();
    }
    transaction.commit();
  } catch (const SQLite::Exception& failure) {
    throw Error(fmt::format("cannot make the workspace {}: {}", file.string(), failure.what()));
  }
  fs::rename(draft, file, failed);
  if (failed)
    throw Error(fmt::format("cannot make the workspace {}: {}", file.string(), failed.message()));
  return open(run_directory, Access::write);
}

Workspace Workspace::open(const fs::path& run_directory, Access access) {
  const fs::path file = run_directory / "workspace.db";
  std::error_code absent;
  if (!fs::exists(file, absent))
    throw Error(fmt::format("there is no workspace in {}", run_directory.string()));
  try {
    const bool writes = access == Access::write;
    auto database = std::make_unique<Database>(
        Database{writes ? SQLite::Database(file.string(), SQLite::OPEN_READWRITE, busy_timeout_ms)
                        : open_to_read(file),
                 writes});
    check_version(database->sqlite, file);
    if (writes)
      set_journal(database->sqlite, run_directory);
    return Workspace(std::move(database));
  } catch (const SQLite::Exception& failure) {
    throw Error(fmt::format("cannot open the workspace {}: {}", file.string(), failure.what()));
  }
}

std::string Workspace::fact(const std::string& name) const {
  const auto all = facts();
  const auto found = all.find(name);
  if (found == all.end())
    throw Error(fmt::format("the workspace knows no '{}'", name));
  return found->second;
}

std::map<std::string, std::string> Workspace::facts() const {
  return translated(database_->sqlite, [&] {
    std::map<std::string, std::string> all;
    SQLite::Statement select(database_->sqlite, "SELECT name, value FROM fact");
    while (select.executeStep())
      all[select.getColumn(0).getString()] = select.getColumn(1).getString();
    return all;
  });
}

void Workspace::set_fact(const std::string& name, const std::string& value) {
  translated(database_->sqlite, [&] {
    SQLite::Statement insert(database_->sqlite,
                             "INSERT INTO fact (name, value) VALUES (?, ?) "
                             "ON CONFLICT (name) DO UPDATE SET value = excluded.value");
    insert.bind(1, name);
    insert.bind(2, value);
    insert.exec();
  });
}

}  // namespace bench::workspace
