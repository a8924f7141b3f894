#include "database.hpp"

#include <array>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <SQLiteCpp/Backup.h>
#include <fmt/core.h>

#include <bench/workspace/workspace.hpp>

namespace bench::workspace {
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
  for (const Changed& row : changed) {
    update.reset();
    update.bind(1, row.key);
    update.bind(2, row.second_key);
    update.bind(3, row.text);
    update.exec();
  }
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
