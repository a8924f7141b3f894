#include "database.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <bench/base/value.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::workspace {
namespace {

std::optional<Value> read_value(const SQLite::Column& column) {
  if (column.isInteger())
    return static_cast<long long>(column.getInt64());
  if (column.isFloat())
    return column.getDouble();
  return column.isNull() ? std::nullopt : std::optional<Value>(column.getString());
}

constexpr const char* select_findings =
    "SELECT v.workpackage, n.name, v.value, n.unit, v.estimated, v.absent_reason "
    "FROM found_name AS n CROSS JOIN found_value AS v ON v.name = n.id WHERE n.analyser = ? ";
constexpr const char* in_order = "ORDER BY n.name, n.unit, v.workpackage";

std::vector<Finding> read_findings(SQLite::Statement& select) {
  std::vector<Finding> all;
  while (select.executeStep()) {
    Finding& finding = all.emplace_back();
    finding.workpackage = select.getColumn(0).getInt64();
    finding.name = select.getColumn(1).getString();
    finding.value = read_value(select.getColumn(2));
    finding.unit = select.getColumn(3).getString();
    finding.estimated = select.getColumn(4).getInt() != 0;
    finding.absent_reason = select.getColumn(5).getString();
    // SQLite stores NaN as NULL; what is absent has a reason.
    if (!finding.value && finding.absent_reason.empty())
      finding.value = std::numeric_limits<double>::quiet_NaN();
  }
  return all;
}

/// The numbers under which an analyser's names are kept, for as long as one call lasts.
class NumbersOfNames {
 public:
  NumbersOfNames(Statements& statements, const std::string& analyser)
      : insert_(statements.of("INSERT INTO found_name (analyser, name, unit) VALUES (?, ?, ?) "
                              "ON CONFLICT DO UPDATE SET unit = unit RETURNING id")) {
    insert_.tryReset();
    insert_.bind(1, analyser);  // stays bound
  }

  std::int64_t of(const Finding& finding) {
    const auto [known, is_new] = numbers_.try_emplace({finding.name, finding.unit});
    if (is_new) {
      insert_.bindNoCopy(2, finding.name);
      insert_.bindNoCopy(3, finding.unit);
      insert_.executeStep();
      known->second = insert_.getColumn(0).getInt64();
      insert_.reset();
    }
    return known->second;
  }

 private:
  SQLite::Statement& insert_;
  std::map<std::pair<std::string_view, std::string_view>, std::int64_t> numbers_;
};

/// The number of a name, and what was found for it.
using Row = std::pair<std::int64_t, const Finding*>;

/// SQLite takes 1 us for a row that it is given alone, 0.4 us for one of this many.
constexpr std::size_t rows_at_a_time = 48;

void insert_rows(Statements& statements, std::span<const Row> rows) {
  std::string sql =
      "INSERT INTO found_value (name, workpackage, value, estimated, absent_reason) VALUES ";
  for (std::size_t k = 0; k < rows.size(); ++k)
    sql += k == 0 ? "(?, ?, ?, ?, ?)" : ", (?, ?, ?, ?, ?)";
  SQLite::Statement& insert = statements.of(sql);
  insert.tryReset();
  int parameter = 0;
  for (const auto& [name, finding] : rows) {
    insert.bind(++parameter, name);
    bind(insert, ++parameter, finding->workpackage);
    bind(insert, ++parameter, finding->value);
    insert.bind(++parameter, finding->estimated ? 1 : 0);
    insert.bindNoCopy(++parameter, finding->absent_reason);
  }
  insert.exec();
  insert.reset();
}

constexpr const char* count_ended =
    "SELECT count(*) FROM workpackage WHERE state = 'done' OR state = 'failed' OR state = "
    "'skipped'";

}  // namespace

void Workspace::begin_findings(const std::string& analyser) {
  at_once([&] {
    for (const char* sql : {"DELETE FROM found_value WHERE name IN (SELECT id FROM found_name "
                            "WHERE analyser = ?)",
                            "DELETE FROM found_name WHERE analyser = ?"}) {
      SQLite::Statement clear(database_->sqlite, sql);
      run(clear, analyser);
    }
    SQLite::Statement record(database_->sqlite,
                             std::string("INSERT OR REPLACE INTO analysis (analyser, "
                                         "ended_workpackages) VALUES (?, (") +
                                 count_ended + "))");
    run(record, analyser);
  });
}

void Workspace::add_findings(const std::string& analyser, const std::vector<Finding>& findings) {
  at_once([&] {
    NumbersOfNames numbers(database_->statements, analyser);
    std::vector<Row> in_order_of_table;
    in_order_of_table.reserve(findings.size());
    for (const Finding& finding : findings)
      in_order_of_table.emplace_back(numbers.of(finding), &finding);
    std::ranges::stable_sort(in_order_of_table, {}, [](const auto& row) { return row.first; });
    const std::span rows(in_order_of_table);
    for (std::size_t first = 0; first < rows.size(); first += rows_at_a_time)
      insert_rows(database_->statements,
                  rows.subspan(first, std::min(rows_at_a_time, rows.size() - first)));
  });
}

std::vector<Finding> Workspace::findings(const std::string& analyser) const {
  return translated(database_->sqlite, [&] {
    SQLite::Statement select(database_->sqlite, std::string(select_findings) + in_order);
    select.bind(1, analyser);
    return read_findings(select);
  });
}

std::vector<Finding> Workspace::findings(const std::string& analyser,
                                         const std::set<std::string>& names) const {
  return translated(database_->sqlite, [&] {
    SQLite::Statement select(database_->sqlite,
                             std::string(select_findings) +
                                 "AND n.name IN (SELECT value FROM json_each(?)) " + in_order);
    select.bind(1, analyser);
    select.bind(2, nlohmann::json(names).dump());
    return read_findings(select);
  });
}

std::set<std::string> Workspace::found_names(const std::string& analyser,
                                             std::optional<double> above) const {
  return translated(database_->sqlite, [&] {
    std::set<std::string> names;
    SQLite::Statement select(
        database_->sqlite,
        "SELECT n.name FROM found_name AS n WHERE n.analyser = ?1 AND (?2 IS NULL OR EXISTS "
        "(SELECT "
        "1 FROM found_value AS v WHERE v.name = n.id AND typeof(v.value) <> 'text' AND v.value > "
        "?2))");
    select.bind(1, analyser);
    if (above)
      select.bind(2, *above);
    while (select.executeStep())
      names.insert(select.getColumn(0).getString());
    return names;
  });
}

bool Workspace::analysed(const std::string& analyser) const {
  return translated(database_->sqlite, [&] {
    SQLite::Statement select(database_->sqlite,
                             std::string("SELECT 1 FROM analysis WHERE analyser = ? AND "
                                         "ended_workpackages = (") +
                                 count_ended + ")");
    select.bind(1, analyser);
    return select.executeStep();
  });
}

}  // namespace bench::workspace
