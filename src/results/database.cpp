#include "sql.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <variant>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/results/database.hpp>
#include <bench/results/format.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

constexpr int busy_timeout_ms = 10'000;

/// The value as it is stored: formatted values are texts.
std::optional<Value> stored(const Cell& cell, const Heading& heading) {
  if (!cell.value || cell.format.empty())
    return cell.value;
  return format_value(*cell.value, cell.format, heading.place);
}

/// The type that fits all values of a column. A column without any has none: as `text`, it would
/// turn the numbers of later runs into text.
std::string type_of(const Table& rows, std::size_t column) {
  bool text = false;
  bool real = false;
  bool any = false;
  for (const auto& cells : rows.rows)
    if (const auto value = stored(cells[column], rows.headings[column])) {
      any = true;
      text = text || std::holds_alternative<std::string>(*value);
      real = real || std::holds_alternative<double>(*value);
    }
  return !any ? "" : text ? "text" : real ? "float" : "int";
}

std::vector<std::string> identifiers(std::vector<std::string> names) {
  for (std::string& name : names)
    name = identifier(name);
  return names;
}

/// SQLite does not tell names apart by case.
std::vector<std::string> folded(const std::vector<std::string>& names) {
  std::vector<std::string> lower(names.size());
  std::ranges::transform(names, lower.begin(), to_lower);
  return lower;
}

/// Writes one table. SQLite's own exceptions are translated by the caller.
class TableWriter {
 public:
  TableWriter(SQLite::Database& sqlite, const Table& rows, const DatabaseTarget& target)
      : sqlite_(sqlite), rows_(rows), target_(target), table_(identifier(rows.name)) {
    std::set<std::string> seen;
    for (std::size_t k = 0; k < rows.headings.size(); ++k) {
      const std::string& title = rows.headings[k].title;
      if (!seen.insert(to_lower(title)).second || to_lower(title) == run_column)
        fail(fmt::format("cannot have {} column '{}'",
                         to_lower(title) == run_column ? "a" : "a second", title),
             "give the key another title", rows.headings[k].place);
      columns_.push_back(title);
      types_.push_back(type_of(rows, k));
    }
    if (columns_.empty())
      fail("has no keys", "add `key: [...]` with names of parameters and patterns", target.place);
    if (target_.primary_key.empty()) {
      columns_.emplace_back(run_column);
      types_.emplace_back("text");
    }
  }

  void write() {
    SQLite::Transaction transaction(sqlite_, SQLite::TransactionBehavior::IMMEDIATE);
    make_table();
    add_columns();
    if (target_.primary_key.empty())
      remove_rows_of_run();
    insert_rows();
    transaction.commit();
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& hint,
                         const Place& place) const {
    throw Error(Id::invalid_value, fmt::format("database '{}' {}", rows_.name, what), hint, place);
  }

  void make_table() {
    std::vector<std::string> definitions;
    for (std::size_t k = 0; k < columns_.size(); ++k)
      definitions.push_back(identifier(columns_[k]) + " " + types_[k]);
    if (!target_.primary_key.empty())
      definitions.push_back(
          fmt::format("PRIMARY KEY ({})", join(identifiers(target_.primary_key), ", ")));
    sqlite_.exec(
        fmt::format("CREATE TABLE IF NOT EXISTS {} ({})", table_, join(definitions, ", ")));
  }

  /// Columns that only other runs have stay: their values exist nowhere else.
  void add_columns() {
    std::vector<std::string> existing;
    std::map<int, std::string> key;  // by the position in the key
    SQLite::Statement select(sqlite_, fmt::format("PRAGMA table_info({})", table_));
    while (select.executeStep()) {
      existing.push_back(select.getColumn(1).getString());
      if (const int position = select.getColumn(5).getInt())
        key[position] = existing.back();
    }
    check_key(key);
    const auto known = folded(existing);
    const auto wanted = folded(columns_);
    for (std::size_t k = 0; k < columns_.size(); ++k)
      if (std::ranges::find(known, wanted[k]) == known.end())
        sqlite_.exec(fmt::format("ALTER TABLE {} ADD COLUMN {} {}", table_, identifier(columns_[k]),
                                 types_[k]));
  }

  void check_key(const std::map<int, std::string>& key) const {
    std::vector<std::string> existing;
    for (const auto& [position, name] : key)
      existing.push_back(name);
    const auto is = folded(existing);
    const auto shall_be = folded(target_.primary_key);
    if (std::set(is.begin(), is.end()) == std::set(shall_be.begin(), shall_be.end()))
      return;
    const auto described = [](const std::vector<std::string>& names) {
      return names.empty() ? "no primary key"
                           : fmt::format("the primary key {}", join(names, ", "));
    };
    fail(fmt::format("exists in {} with {}, not with {}", target_.file.string(),
                     described(existing), described(target_.primary_key)),
         "use another file or table name, or remove this table", target_.place);
  }

  void remove_rows_of_run() {
    SQLite::Statement remove(
        sqlite_, fmt::format("DELETE FROM {} WHERE {} = ?", table_, identifier(run_column)));
    remove.bind(1, target_.run);
    remove.exec();
  }

  void insert_rows() {
    std::vector<std::string> marks(columns_.size(), "?");
    SQLite::Statement insert(sqlite_,
                             fmt::format("INSERT INTO {} ({}) VALUES ({})", table_,
                                         join(identifiers(columns_), ", "), join(marks, ", ")));
    for (const auto& cells : rows_.rows) {
      remove_row_of_equal_key(cells);
      for (std::size_t k = 0; k < cells.size(); ++k)
        bind_value(insert, static_cast<int>(k) + 1, stored(cells[k], rows_.headings[k]));
      if (target_.primary_key.empty())
        insert.bind(static_cast<int>(columns_.size()), target_.run);
      insert.exec();
      insert.reset();
    }
  }

  /// REPLACE would not do: two missing values are never equal to it.
  void remove_row_of_equal_key(const std::vector<Cell>& cells) {
    if (target_.primary_key.empty())
      return;
    if (!remove_) {
      std::vector<std::string> conditions;
      for (const std::string& title : target_.primary_key)
        conditions.push_back(identifier(title) + " IS ?");
      remove_.emplace(sqlite_,
                      fmt::format("DELETE FROM {} WHERE {}", table_, join(conditions, " AND ")));
    }
    for (std::size_t k = 0; k < target_.primary_key.size(); ++k) {
      const auto column = static_cast<std::size_t>(
          std::find(columns_.begin(), columns_.end(), target_.primary_key[k]) - columns_.begin());
      bind_value(*remove_, static_cast<int>(k) + 1, stored(cells[column], rows_.headings[column]));
    }
    remove_->exec();
    remove_->reset();
  }

  SQLite::Database& sqlite_;
  const Table& rows_;
  const DatabaseTarget& target_;
  std::string table_;
  std::vector<std::string> columns_;
  std::vector<std::string> types_;
  std::optional<SQLite::Statement> remove_;
};

}  // namespace

void write(const Table& rows, const DatabaseTarget& target) {
  make_directories(target.file.parent_path());
  std::error_code unknown;
  if (!std::filesystem::exists(target.file, unknown))
    append_to_file(target.file, "");  // with the mode that every other file gets
  try {
    SQLite::Database sqlite(target.file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                            busy_timeout_ms);
    TableWriter(sqlite, rows, target).write();
  } catch (const SQLite::Exception& failure) {
    throw Error(Id::system_error,
                fmt::format("cannot write database '{}' to {}: {}", rows.name, target.file.string(),
                            failure.what()),
                "check that it is an SQLite file and that there is space left", target.place);
  }
}

}  // namespace bench::results
