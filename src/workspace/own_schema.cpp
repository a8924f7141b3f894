#include "own_schema.hpp"

#include "schema.hpp"

#include <filesystem>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <sqlite3.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>

namespace bench::workspace {
namespace {

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
    throw Error(fmt::format("{} is not a workspace of bench", file.string()));
  throw Error(
      fmt::format("{} has format {}{}; this is bench {}, which reads format {}", file.string(),
                  version, writer_of(sqlite), BENCH_VERSION, schema_version),
      version > schema_version
          ? "read it with that version of bench, or a newer one"
          : "read it with the bench that wrote it, or run the benchmark again with this one");
}

}  // namespace

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

void check_schema(SQLite::Database& sqlite, const std::filesystem::path& file) {
  check_version(sqlite, file);
  if (const std::string foreign = foreign_object(sqlite, own_statements()); !foreign.empty())
    throw Error(
        fmt::format("the tables of {} are not those that bench makes: {}", file.string(), foreign),
        "bench reads only what it has written itself; query the file with `sqlite3`, and "
        "keep tables and views of your own in another one");
}

}  // namespace bench::workspace
