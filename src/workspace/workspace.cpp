#include "database.hpp"

#include <array>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/core.h>
#include <sqlite3.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::workspace {
namespace {

namespace fs = std::filesystem;

/// The statements of the schema as SQLite keeps them: without what stands between them.
std::set<std::string> own_statements() {
  std::set<std::string> statements;
  for (const std::string& statement : split(schema, ";\n"))
    if (const auto begin = statement.find("CREATE "); begin != std::string::npos)
      statements.insert(statement.substr(begin));
  return statements;
}

/// What an object of the schema is called where it is not bench's; empty: all are.
std::string foreign_object(SQLite::Database& sqlite, std::set<std::string> expected) {
  SQLite::Statement objects(sqlite, "SELECT type, name, sql FROM sqlite_master");
  while (objects.executeStep()) {
    const std::string type = objects.getColumn(0).getString();
    const std::string name = objects.getColumn(1).getString();
    // Made by SQLite itself for a UNIQUE of a table.
    if (type == "index" && objects.getColumn(2).isNull() && name.starts_with("sqlite_autoindex_"))
      continue;
    if (expected.erase(objects.getColumn(2).getString()) == 0)
      return fmt::format("its {} '{}' is not", type, name);
  }
  return expected.empty() ? "" : "something is missing";
}

/// The bench that wrote a database of another version: the table of facts has not changed since the
/// first. Empty where that cannot be told.
std::string writer_of(SQLite::Database& sqlite) {
  const std::set<std::string> own = own_statements();
  SQLite::Statement table(sqlite, "SELECT sql FROM sqlite_master WHERE name = 'fact'");
  if (!table.executeStep() || !own.contains(table.getColumn(0).getString()))
    return "";
  SQLite::Statement fact(sqlite, "SELECT value FROM fact WHERE name = 'bench_version'");
  return fact.executeStep() ? ", written by bench " + fact.getColumn(0).getString() : "";
}

void check_version(SQLite::Database& sqlite, const std::filesystem::path& file) {
  const int version = sqlite.execAndGet("PRAGMA user_version").getInt();
  if (version == schema_version)
    return;
  if (version < 1)
    throw Error(Id::unusable_file, fmt::format("{} is not a workspace of bench", file.string()));
  throw Error(
      Id::version_mismatch,
      fmt::format("{} has format {}{}; this is bench {}, which reads format {}", file.string(),
                  version, writer_of(sqlite), BENCH_VERSION, schema_version),
      version > schema_version
          ? "read it with that version of bench, or a newer one"
          : "read it with the bench that wrote it, or run the benchmark again with this one");
}

/// The limits of a database that anybody may have written.
/// Source: https://www.sqlite.org/security.html, 1.1.
void set_limits(SQLite::Database& sqlite) {
  constexpr int largest_value = 256 << 20;  // the input of a run with 1,000,000 values
  for (const auto& [limit, value] :
       std::initializer_list<std::pair<int, int>>{{SQLITE_LIMIT_LENGTH, largest_value},
                                                  {SQLITE_LIMIT_SQL_LENGTH, 100'000},
                                                  {SQLITE_LIMIT_COLUMN, 100},
                                                  {SQLITE_LIMIT_EXPR_DEPTH, 50},
                                                  {SQLITE_LIMIT_COMPOUND_SELECT, 10},
                                                  {SQLITE_LIMIT_VDBE_OP, 25'000},
                                                  {SQLITE_LIMIT_FUNCTION_ARG, 10},
                                                  {SQLITE_LIMIT_ATTACHED, 0},
                                                  {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50},
                                                  {SQLITE_LIMIT_VARIABLE_NUMBER, 1000},
                                                  {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                                  {SQLITE_LIMIT_WORKER_THREADS, 0}})
    ::sqlite3_limit(sqlite.getHandle(), limit, value);
}

/// That the database is a workspace of this version of bench, and its schema bench's own, text for
/// text: generated columns, views, triggers or checks of others would be computed by whoever reads
/// a row.
/// @throws Error
void check_schema(SQLite::Database& sqlite, const std::filesystem::path& file) {
  check_version(sqlite, file);
  if (const std::string foreign = foreign_object(sqlite, own_statements()); !foreign.empty())
    throw Error(
        Id::damaged_data,
        fmt::format("the tables of {} are not those that bench makes: {}", file.string(), foreign),
        "bench reads only what it has written itself; query the file with `sqlite3`, and "
        "keep tables and views of your own in another one");
}

constexpr int busy_timeout_ms = 10'000;
/// A reader that sits on the database must not end a run: without a write-ahead log a commit waits
/// for all who read.
constexpr int writers_busy_timeout_ms = 300'000;

void set_journal(SQLite::Database& sqlite, const fs::path& directory) {
  const bool local = on_local_file_system(directory);
  const char* wanted = local ? "wal" : "truncate";
  // SQLite answers with the mode that it really took.
  const std::string taken =
      sqlite.execAndGet(fmt::format("PRAGMA journal_mode={}", wanted)).getString();
  const bool safe_with_normal = taken == "wal";
  sqlite.exec(fmt::format("PRAGMA synchronous={}", safe_with_normal ? "NORMAL" : "FULL"));
  // Without a log, readers wait while pages are written: that is at the end of a transaction, and
  // not whenever one no longer fits into the cache.
  if (!safe_with_normal)
    sqlite.exec("PRAGMA cache_spill=OFF");
}

/// Source: https://www.sqlite.org/uri.html, 3.1.
std::string uri_path(const fs::path& file) {
  return replace_all(replace_all(replace_all(file.string(), "%", "%25"), "?", "%3f"), "#", "%23");
}

/// SQLite would follow a link, and wait for somebody to write into a pipe.
void refuse_other_than_files(const fs::path& file) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    const fs::path path = file.string() + suffix;
    std::error_code absent;
    const fs::file_status status = fs::symlink_status(path, absent);
    if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
      throw Error(Id::unusable_file, fmt::format("{} is not a regular file", path.string()),
                  "bench follows no links to a workspace");
  }
}

/// The schema may be anybody's: nothing of it may compute but what the tables need. Those check
/// with json_valid what is written, which not every SQLite counts among its safe functions.
/// Source: https://www.sqlite.org/security.html, 1.1.
void harden(SQLite::Database& sqlite, Workspace::Access access) {
  const int trusted = access == Workspace::Access::write ? 1 : 0;
  for (const auto& [option, value] :
       std::initializer_list<std::pair<int, int>>{{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                                  {SQLITE_DBCONFIG_TRUSTED_SCHEMA, trusted},
                                                  {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                                  {SQLITE_DBCONFIG_ENABLE_VIEW, 0}})
    if (::sqlite3_db_config(sqlite.getHandle(), option, value, nullptr) != SQLITE_OK)
      throw Error(Id::unsupported, "this SQLite has no safe mode for databases of others");
  set_limits(sqlite);
  sqlite.exec("PRAGMA cell_size_check=ON");
}

/// What the file holds, without locks, journal and write-ahead log.
SQLite::Database open_file_alone(const fs::path& file) {
  return {"file:" + uri_path(file) + "?immutable=1",
          SQLite::OPEN_READONLY | SQLite::OPEN_URI | SQLite::OPEN_NOMUTEX, busy_timeout_ms};
}

SQLite::Database open_with_locks(const fs::path& file) {
  SQLite::Database sqlite(file.string(), SQLite::OPEN_READONLY | SQLite::OPEN_NOMUTEX,
                          busy_timeout_ms);
  harden(sqlite, Workspace::Access::read);
  sqlite.execAndGet("SELECT count(*) FROM sqlite_master");  // locks and recovers only now
  return sqlite;
}

/// A writer was killed within a transaction, half of which may stand in the file: puts back what
/// its journal keeps.
void roll_back(const fs::path& file) {
  SQLite::Database sqlite(file.string(), SQLite::OPEN_READWRITE, busy_timeout_ms);
  sqlite.execAndGet("PRAGMA user_version");  // the first read does that; this one needs no schema
}

/// Whether changes may stand in the write-ahead log alone.
bool has_log(const fs::path& file) {
  std::error_code absent;
  const auto size = fs::file_size(file.string() + "-wal", absent);
  return !absent && size > 0;
}

/// A reader that cannot write beside the database (another user's run) cannot take part in the
/// write-ahead log; what the file holds is then all there is to see. That is so, too, where the
/// file system has no locks; nobody can be writing there, since WriterLock refuses. On a full disk
/// a log cannot be begun, which is not needed where the file has everything.
SQLite::Database open_to_read(const fs::path& file) {
  if (!has_locks(file.parent_path()))
    return open_file_alone(file);
  try {
    return open_with_locks(file);
  } catch (const SQLite::Exception& failure) {
    if (failure.getExtendedErrorCode() == SQLITE_READONLY_ROLLBACK) {
      roll_back(file);
      return open_with_locks(file);
    }
    const int code = failure.getErrorCode();
    const bool whole_without_log = code == SQLITE_FULL && !has_log(file);
    if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY && !whole_without_log)
      throw;
    return open_file_alone(file);
  }
}

/// Fills a database that nobody knows of yet. None of its pages needs to be put back should this
/// end halfway, and they are on the disk once the version is, which is written last.
void write_first(SQLite::Database& sqlite, const std::map<std::string, std::string>& facts,
                 const std::function<void()>& changes) {
  sqlite.exec("PRAGMA journal_mode=MEMORY");
  sqlite.exec("PRAGMA synchronous=OFF");
  SQLite::Transaction transaction(sqlite, SQLite::TransactionBehavior::IMMEDIATE);
  sqlite.exec(schema);
  SQLite::Statement insert(sqlite, "INSERT INTO fact (name, value) VALUES (?, ?)");
  for (const auto& [name, value] : facts)
    run(insert, name, value);
  changes();
  transaction.commit();
  sqlite.exec("PRAGMA synchronous=FULL");
  sqlite.exec(fmt::format("PRAGMA user_version={}", schema_version));
}

}  // namespace

Workspace::Workspace(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

Workspace::~Workspace() {
  if (!database_ || !database_->folds_log_in)
    return;
  try {
    database_->statements.forget();
    database_->sqlite.setBusyTimeout(0);  // a reader may look for as long as it likes
    database_->sqlite.exec("PRAGMA journal_mode=DELETE");
  } catch (const SQLite::Exception&) {
    // A reader is looking: the log stays beside the database, and the next writer folds it in.
  }
}

Workspace Workspace::create(const fs::path& run_directory,
                            const std::map<std::string, std::string>& facts, const Events& first) {
  const fs::path file = run_directory / "workspace.db";
  // Complete under its name or not there at all, so that a kill in between leaves no half of it.
  const fs::path draft = run_directory / "workspace.db.new";
  std::error_code failed;
  if (fs::exists(file, failed))
    throw Error(Id::exists, fmt::format("cannot make the workspace {}: it exists", file.string()));
  check_path_length(draft);
  append_to_file(draft, "");  // SQLite would make it readable for all and writable for no group
  try {
    Workspace made(std::make_unique<Database>(
        SQLite::Database(draft.string(),
                         SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_NOMUTEX,
                         busy_timeout_ms),
        /*ends_without_log=*/false));
    SQLite::Database& sqlite = made.database_->sqlite;
    write_first(sqlite, facts, [&] { made.replay(first); });
    set_journal(sqlite, run_directory);  // as it is opened below, so that nothing changes there
  } catch (const SQLite::Exception& failure) {
    throw Error(Id::system_error,
                fmt::format("cannot make the workspace {}: {}", file.string(), failure.what()),
                hint_for(failure));
  }
  fs::rename(draft, file, failed);
  if (failed)
    throw Error(Id::system_error,
                fmt::format("cannot make the workspace {}: {}", file.string(), failed.message()));
  return open(run_directory, Access::write);
}

Workspace Workspace::open(const fs::path& run_directory, Access access) {
  const fs::path file = run_directory / "workspace.db";
  if (access == Access::write)
    refuse_run_of_jube(run_directory);
  else if (is_made_by_jube(run_directory))
    return of_jube(run_directory);
  if (!is_taken(file))
    throw Error(Id::unknown_run,
                fmt::format("there is no workspace in {}", run_directory.string()));
  refuse_other_than_files(file);
  check_path_length(file);
  try {
    const bool writes = access == Access::write;
    auto database = std::make_unique<Database>(
        writes ? SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX,
                                  writers_busy_timeout_ms)
               : open_to_read(file),
        writes);
    harden(database->sqlite, access);
    check_schema(database->sqlite, file);
    if (writes)
      set_journal(database->sqlite, run_directory);
    return Workspace(std::move(database));
  } catch (const SQLite::Exception& failure) {
    const std::string message =
        fmt::format("cannot open the workspace {}: {}", file.string(), failure.what());
    if (means_damage(failure))
      throw Error(Id::system_error, message, hint_for(failure));
    throw MachineError(Id::system_error, message, hint_for(failure));
  }
}

void Workspace::at_once(const std::function<void()>& action) {
  SQLite::Database& sqlite = database_->sqlite;
  translated(sqlite, [&] {
    if (sqlite3_get_autocommit(sqlite.getHandle()) == 0)
      return action();
    SQLite::Transaction transaction(sqlite, SQLite::TransactionBehavior::IMMEDIATE);
    action();
    transaction.commit();
  });
}

std::string Workspace::fact(const std::string& name) const {
  const auto all = facts();
  const auto found = all.find(name);
  if (found == all.end())
    throw Error(Id::unknown_name, fmt::format("the workspace knows no '{}'", name));
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
    run(insert, name, value);
  });
}

namespace {

/// A column that holds texts of users or of what they ran, and the two that tell a row.
struct TextColumn {
  const char* table;
  const char* column;
  const char* key;
  const char* second_key = "''";
};
constexpr std::array text_columns{
    TextColumn{"fact", "value", "name"},
    TextColumn{"workpackage", "parameters", "id"},
    TextColumn{"workpackage", "reason", "id"},
    TextColumn{"workpackage", "environment", "id"},
    TextColumn{"attempt", "reason", "workpackage", "number"},
    TextColumn{"found_value", "value", "workpackage", "name"},
    TextColumn{"found_value", "absent_reason", "workpackage", "name"},
};

struct Changed {
  std::string key;
  std::string second_key;
  std::string text;
};

void rewrite_column(SQLite::Database& sqlite, const TextColumn& one,
                    const Workspace::Rewrite& rewrite) {
  SQLite::Statement rows(
      sqlite, fmt::format("SELECT {0}, {1}, {2} FROM {3} WHERE typeof({2}) = 'text' AND {2} <> ''",
                          one.key, one.second_key, one.column, one.table));
  std::vector<Changed> changed;
  while (rows.executeStep()) {
    Changed row{.key = rows.getColumn(0).getString(), .second_key = rows.getColumn(1).getString()};
    const std::string text = rows.getColumn(2).getString();
    row.text = rewrite(text, fmt::format("{}.{} {}", one.table, one.column, row.key));
    if (row.text != text)
      changed.push_back(std::move(row));
  }
  SQLite::Statement update(sqlite, fmt::format("UPDATE {} SET {} = ?3 WHERE {} = ?1 AND {} = ?2",
                                               one.table, one.column, one.key, one.second_key));
  for (const Changed& row : changed)
    run(update, row.key, row.second_key, row.text);
}

}  // namespace

void Workspace::copy_to(const std::filesystem::path& file, const Rewrite& rewrite) const {
  translated(database_->sqlite, [&] {
    SQLite::Database copy(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    SQLite::Backup(copy, database_->sqlite).executeStep(-1);
    copy.exec("PRAGMA journal_mode=DELETE");
    copy.exec("PRAGMA synchronous=OFF");  // who is interrupted has no export anyway
    copy.exec("BEGIN");
    for (const TextColumn& one : text_columns)
      rewrite_column(copy, one, rewrite);
    copy.exec("COMMIT");
    copy.exec("VACUUM");
  });
}

}  // namespace bench::workspace
