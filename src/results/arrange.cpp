#include "cell_order.hpp"
#include "sql.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/core.h>
#include <sqlite3.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/arrange.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

/// Whether a word means the column.
bool is_called(const Heading& heading, const std::string& word, const std::vector<Heading>& all) {
  return heading.name == word ||
         (heading.title == word && std::ranges::find(all, word, &Heading::name) == all.end());
}

std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const Heading& heading : table.headings)
    names.push_back(heading.name);
  return names;
}

/// What each column is called, by its number. Of two with one name it is the first.
std::map<std::string, std::size_t> columns_by_word(const std::vector<Heading>& all) {
  std::map<std::string, std::size_t> words;
  for (std::size_t k = 0; k < all.size(); ++k)
    for (const std::string& word : {all[k].name, all[k].title})
      if (!word.empty() && is_called(all[k], word, all))
        words.emplace(word, k);
  return words;
}

/// Whether all values of a column are numbers, also those that a pattern without a type has found.
bool has_only_numbers(const Table& table, std::size_t column) {
  return std::ranges::all_of(table.rows, [&](const std::vector<Cell>& row) {
    return !row[column].value || numbers::number_of(*row[column].value);
  });
}

/// What expressions compare: of an integer beyond 64 bits a real.
std::optional<Value> comparable_value(const Cell& cell, bool is_number) {
  if (cell.is_wide_integer && cell.value)
    return parse_number(to_text(*cell.value));
  return is_number && cell.value ? numbers::numeric_value(*cell.value) : cell.value;
}

struct SortColumn {
  std::size_t number;
  bool descending;
};

/// @param text `COLUMN`, `COLUMN:asc` or `COLUMN:desc`
SortColumn sort_column(const Table& table, const std::string& text) {
  const auto colon = text.rfind(':');
  const std::string direction = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool has_direction = direction == "asc" || direction == "desc";
  const std::string word = has_direction ? text.substr(0, colon) : text;
  const auto columns = columns_by_word(table.headings);
  if (const auto found = columns.find(word); found != columns.end())
    return {.number = found->second, .descending = direction == "desc"};
  throw Error(Id::unknown_name, fmt::format("table '{}' has no column '{}'", table.name, word),
              suggestion(word, names_of(table), "the columns are "));
}

/// Leaves the items that are to be kept.
template <class Items>
void keep_where(const std::vector<bool>& kept, Items& items) {
  Items left;
  for (std::size_t k = 0; k < items.size(); ++k)
    if (kept[k])
      left.push_back(std::move(items[k]));
  items = std::move(left);
}

bool is_of_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || byte >= 0x80;
}

/// Whether a text has the word, and not only as a part of a longer one.
bool has_word(const std::string& text, const std::string& word) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    const bool begins = at == 0 || !is_of_word(text[at - 1]) || !is_of_word(word.front());
    if (begins && (end == text.size() || !is_of_word(text[end]) || !is_of_word(word.back())))
      return true;
  }
  return false;
}

/// A condition that SQLite evaluates for one row at a time.
class Condition {
 public:
  /// Takes all columns whose names are in the text, which may be more than those that it uses.
  /// @throws Error if two of them are one for SQLite
  Condition(SQLite::Database& sqlite, const Table& table, const std::string& text)
      : query_(sqlite, query_text(table, text)) {
    if (static_cast<std::size_t>(query_.getBindParameterCount()) > used_.size())
      throw Error(Id::invalid_expression, fmt::format("invalid expression '{}'", text),
                  "write columns without a mark such as '$': `size > 1`");
  }

  bool holds(const std::vector<Cell>& row) {
    query_.reset();
    for (std::size_t k = 0; k < used_.size(); ++k)
      bind_value(query_, static_cast<int>(k) + 1, comparable_value(row[used_[k]], are_numbers_[k]));
    return query_.executeStep();
  }

 private:
  std::string query_text(const Table& table, const std::string& text) {
    std::vector<std::string> values{"1"};
    std::map<std::string, std::size_t> known;  // SQLite takes `T` for `t`
    for (const auto& [word, column] : columns_by_word(table.headings)) {
      if (!has_word(text, word))
        continue;
      const auto [same, is_new] = known.emplace(to_lower(word), column);
      if (!is_new && same->second != column)
        throw Error(Id::conflict,
                    fmt::format("expressions cannot tell the columns '{}' and '{}' apart",
                                table.headings[same->second].name, word),
                    "give one of them another `title` in the input file");
      if (!is_new)
        continue;
      used_.push_back(column);
      are_numbers_.push_back(has_only_numbers(table, column));
      // As a column of numbers it equals both 8 and '8'.
      values.push_back(fmt::format("{} AS {}", are_numbers_.back() ? "CAST(? AS NUMERIC)" : "?",
                                   identifier(word)));
    }
    return fmt::format("SELECT 1 FROM (SELECT {}) WHERE ({}\n)", join(values, ", "), text);
  }

  std::vector<std::size_t> used_;
  std::vector<bool> are_numbers_;  ///< Of each used column.
  SQLite::Statement query_;
};

/// What SQLite has against an expression, and the name that may have been meant.
[[noreturn]] void refuse(const std::string& condition, const std::string& error,
                         const Table& table) {
  constexpr std::string_view unknown = "no such column: ";
  const std::string hint =
      error.starts_with(unknown)
          ? suggestion(error.substr(unknown.size()), names_of(table), "the columns are ")
          : "an SQL expression over the columns, such as `size >= 8 and state = 'done'`";
  throw Error(Id::invalid_expression, fmt::format("invalid expression '{}': {}", condition, error),
              hint);
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The columns of the united table.
class Union {
 public:
  /// Where the columns of this table are in the united one; new ones are added.
  std::vector<std::size_t> add(const Table& table) {
    std::vector<std::size_t> positions;
    std::map<Shown, int> seen;
    for (const Heading& heading : table.headings) {
      const Shown shown{heading.title, heading.unit};
      const auto [known, is_new] = positions_.try_emplace({shown, seen[shown]++}, headings_.size());
      if (is_new)
        headings_.push_back(heading);
      positions.push_back(known->second);
    }
    return positions;
  }

  const std::vector<Heading>& headings() const { return headings_; }

 private:
  using Shown = std::pair<std::string, std::string>;

  std::vector<Heading> headings_;
  std::map<std::pair<Shown, int>, std::size_t> positions_;
};

/// @param reason why a cell is missing that the table of the row does not have
std::vector<Cell> spread(std::vector<Cell> cells, const std::vector<std::size_t>& positions,
                         std::size_t width, const std::string& reason) {
  std::vector<Cell> spread(width);
  for (Cell& cell : spread)
    cell.absent_reason = reason;
  for (std::size_t k = 0; k < cells.size(); ++k)
    spread[positions[k]] = std::move(cells[k]);
  return spread;
}

}  // namespace

void choose_rows(Table& table, const std::string& condition) {
  try {
    SQLite::Database sqlite(":memory:");
    // "done" is a text where no column has the name, as in Python.
    ::sqlite3_db_config(sqlite.getHandle(), SQLITE_DBCONFIG_DQS_DML, 1, nullptr);
    Condition chosen(sqlite, table, condition);
    std::vector<bool> kept;
    for (const auto& row : table.rows)
      kept.push_back(chosen.holds(row));
    keep_where(kept, table.rows);
    if (!table.sources.empty())
      keep_where(kept, table.sources);
  } catch (const SQLite::Exception& error) {
    refuse(condition, error.what(), table);
  }
}

void sort_rows(Table& table, const std::vector<std::string>& columns) {
  std::vector<SortColumn> order;
  for (const std::string& column : columns)
    order.push_back(sort_column(table, column));
  std::vector<std::size_t> rows(table.rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  for (auto column = order.rbegin(); column != order.rend(); ++column) {
    std::vector<CellKey> keys;
    keys.reserve(rows.size());
    const bool are_numbers = has_only_numbers(table, column->number);
    for (const auto& row : table.rows) {
      const Cell& cell = row[column->number];
      if (are_numbers && cell.value && !cell.is_wide_integer)
        keys.emplace_back(Cell{.value = numbers::numeric_value(*cell.value)});
      else
        keys.emplace_back(cell);
    }
    std::ranges::stable_sort(rows, [&](std::size_t a, std::size_t b) {
      if (keys[a].has_no_order() || keys[b].has_no_order() || !column->descending)
        return keys[a].compare(keys[b]) < 0;
      return keys[a].compare(keys[b]) > 0;
    });
  }
  const auto arrange = [&](auto& all) {
    std::remove_reference_t<decltype(all)> arranged;
    arranged.reserve(all.size());
    for (const std::size_t row : rows)
      arranged.push_back(std::move(all[row]));
    all = std::move(arranged);
  };
  arrange(table.rows);
  if (!table.sources.empty())
    arrange(table.sources);
}

void choose_columns(Table& table, const std::vector<std::string>& select,
                    const std::vector<std::string>& exclude) {
  const auto is_among = [&](const Heading& heading, const std::vector<std::string>& words) {
    return std::ranges::any_of(
        words, [&](const std::string& word) { return is_called(heading, word, table.headings); });
  };
  std::vector<bool> kept;
  for (const Heading& heading : table.headings)
    kept.push_back((select.empty() || is_among(heading, select)) && !is_among(heading, exclude));
  if (std::ranges::find(kept, false) == kept.end())
    return;
  keep_where(kept, table.headings);
  for (auto& cells : table.rows)
    keep_where(kept, cells);
}

Table combine(const std::vector<RunTable>& runs, bool descending) {
  Union columns;
  std::vector<std::vector<std::size_t>> positions(runs.size());
  for (std::size_t k = runs.size(); k-- > 0;)
    positions[k] = columns.add(runs[k].table);
  Table combined = runs.back().table;
  combined.rows.clear();
  combined.sources.clear();
  combined.notes.clear();
  combined.headings = columns.headings();
  combined.headings.insert(combined.headings.begin(), {.title = "id", .name = "id"});
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const std::size_t at = descending ? runs.size() - 1 - k : k;
    const std::string lacking = fmt::format("run {} has no such column", runs[at].id);
    for (const auto& cells : runs[at].table.rows) {
      std::vector<Cell> row = spread(cells, positions[at], columns.headings().size(), lacking);
      row.insert(row.begin(), {.value = runs[at].id});
      combined.rows.push_back(std::move(row));
    }
    for (RowSource source : runs[at].table.sources) {
      source.run = runs[at].id;
      combined.sources.push_back(std::move(source));
    }
    for (const std::string& note : runs[at].table.notes)
      if (!contains(combined.notes, note))
        combined.notes.push_back(note);
  }
  return combined;
}

}  // namespace bench::results
