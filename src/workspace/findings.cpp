#include "database.hpp"

#include <limits>

#include <nlohmann/json.hpp>

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

void bind_value(SQLite::Statement& statement, int index, const std::optional<Value>& value) {
  if (!value)
    statement.bind(index);
  else if (const auto* integer = std::get_if<long long>(&*value))
    statement.bind(index, static_cast<std::int64_t>(*integer));
  else if (const auto* real = std::get_if<double>(&*value))
    statement.bind(index, *real);
  else
    statement.bind(index, std::get<std::string>(*value));
}

constexpr const char* select_findings =
    "SELECT workpackage, name, value, unit, estimated, absent_reason FROM finding "
    "WHERE analyser = ? ";

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

constexpr const char* count_ended =
    "SELECT count(*) FROM workpackage WHERE state IN ('done', 'failed')";

}  // namespace

void Workspace::begin_findings(const std::string& analyser) {
  at_once([&] {
    SQLite::Statement clear(database_->sqlite, "DELETE FROM finding WHERE analyser = ?");
    clear.bind(1, analyser);
    clear.exec();
    SQLite::Statement record(database_->sqlite,
                             std::string("INSERT OR REPLACE INTO analysis (analyser, "
                                         "ended_workpackages) VALUES (?, (") +
                                 count_ended + "))");
    record.bind(1, analyser);
    record.exec();
  });
}

void Workspace::add_findings(const std::string& analyser, const std::vector<Finding>& findings) {
  at_once([&] {
    SQLite::Statement& insert = database_->statements.of(
        "INSERT INTO finding (analyser, workpackage, name, value, unit, "
        "estimated, absent_reason) VALUES (?, ?, ?, ?, ?, ?, ?)");
    insert.tryReset();
    insert.bind(1, analyser);  // stays bound
    for (const Finding& finding : findings) {
      insert.bind(2, static_cast<std::int64_t>(finding.workpackage));
      insert.bindNoCopy(3, finding.name);
      bind_value(insert, 4, finding.value);
      insert.bindNoCopy(5, finding.unit);
      insert.bind(6, finding.estimated ? 1 : 0);
      insert.bindNoCopy(7, finding.absent_reason);
      insert.exec();
      insert.reset();
    }
  });
}

std::vector<Finding> Workspace::findings(const std::string& analyser) const {
  return translated(database_->sqlite, [&] {
    SQLite::Statement select(database_->sqlite,
                             std::string(select_findings) + "ORDER BY workpackage, name");
    select.bind(1, analyser);
    return read_findings(select);
  });
}

std::vector<Finding> Workspace::findings(const std::string& analyser,
                                         const std::set<std::string>& names) const {
  return translated(database_->sqlite, [&] {
    // The + keeps SQLite from searching each name in each workpackage: one pass is faster.
    SQLite::Statement select(database_->sqlite, std::string(select_findings) +
                                                    "AND +name IN (SELECT value FROM json_each(?)) "
                                                    "ORDER BY workpackage, name");
    select.bind(1, analyser);
    select.bind(2, nlohmann::json(names).dump());
    return read_findings(select);
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
