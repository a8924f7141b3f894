#include "database.hpp"

#include <array>
#include <limits>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/workspace/workspace.hpp>

namespace bench::workspace {
namespace {

constexpr std::array<std::pair<State, std::string_view>, 6> state_names{
    {{State::ready, "ready"},
     {State::running, "running"},
     {State::submitted, "submitted"},
     {State::pending, "pending"},
     {State::done, "done"},
     {State::failed, "failed"}}};

State state_of(const std::string& word) {
  for (const auto& [state, name] : state_names)
    if (name == word)
      return state;
  throw Error(fmt::format("the workspace holds an unknown state '{}'", word));
}

Parameters parameters_of(const std::string& json) {
  Parameters parameters;
  const auto object = nlohmann::ordered_json::parse(json);
  for (const auto& [name, value] : object.items())
    parameters.emplace_back(name, value.get<std::string>());
  return parameters;
}

constexpr const char* select_workpackages =
    "SELECT id, step, iteration, combination, parameters, directory, state, expanded, reason, "
    "attempts, prepared, cycle, command, retries, timeouts FROM workpackage ";

Workpackage read_workpackage(SQLite::Statement& row) {
  Workpackage workpackage;
  workpackage.id = row.getColumn(0).getInt64();
  workpackage.step = row.getColumn(1).getString();
  workpackage.iteration = row.getColumn(2).getInt();
  workpackage.combination = row.getColumn(3).getInt64();
  workpackage.parameters = parameters_of(row.getColumn(4).getString());
  workpackage.directory = row.getColumn(5).getString();
  workpackage.state = state_of(row.getColumn(6).getString());
  workpackage.expanded = row.getColumn(7).getInt() != 0;
  workpackage.reason = row.getColumn(8).getString();
  workpackage.attempts = row.getColumn(9).getInt();
  workpackage.progress = {.prepared = row.getColumn(10).getInt() != 0,
                          .cycle = row.getColumn(11).getInt(),
                          .command = row.getColumn(12).getInt()};
  workpackage.retries = row.getColumn(13).getInt();
  workpackage.timeouts = row.getColumn(14).getInt();
  return workpackage;
}

std::optional<double> optional_real(SQLite::Statement& row, int column) {
  return row.getColumn(column).isNull() ? std::nullopt
                                        : std::optional(row.getColumn(column).getDouble());
}

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

Attempt read_attempt(SQLite::Statement& row) {
  Attempt attempt;
  attempt.workpackage = row.getColumn(0).getInt64();
  attempt.number = row.getColumn(1).getInt();
  attempt.uuid = row.getColumn(2).getString();
  attempt.host = row.getColumn(3).getString();
  attempt.job_id = row.getColumn(4).getString();
  attempt.claimed_unix_s = row.getColumn(5).getDouble();
  attempt.started_unix_s = optional_real(row, 6);
  attempt.ended_unix_s = optional_real(row, 7);
  if (!row.getColumn(8).isNull())
    attempt.exit_code = row.getColumn(8).getInt();
  attempt.reason = row.getColumn(9).getString();
  attempt.submission = row.getColumn(10).getString();
  if (!row.getColumn(11).isNull())
    attempt.task = row.getColumn(11).getInt();
  attempt.outcome = row.getColumn(12).getString();
  return attempt;
}

constexpr const char* select_attempts =
    "SELECT a.workpackage, a.number, a.uuid, a.host, a.job_id, a.claimed_unix_s, a.started_unix_s, "
    "a.ended_unix_s, a.exit_code, a.reason, a.submission, a.task, a.outcome ";

std::vector<Attempt> read_attempts(const SQLite::Database& database, const std::string& from) {
  std::vector<Attempt> all;
  SQLite::Statement select(database, select_attempts + from);
  while (select.executeStep())
    all.push_back(read_attempt(select));
  return all;
}

constexpr const char* count_ended =
    "SELECT count(*) FROM workpackage WHERE state IN ('done', 'failed')";

}  // namespace

std::string_view name_of(State state) {
  for (const auto& [known, name] : state_names)
    if (known == state)
      return name;
  return "";
}

std::vector<Workpackage> Workspace::workpackages() const {
  return translated(database_->sqlite, [&] {
    std::vector<Workpackage> all;
    SQLite::Statement select(database_->sqlite, std::string(select_workpackages) + "ORDER BY id");
    while (select.executeStep())
      all.push_back(read_workpackage(select));
    SQLite::Statement parents(database_->sqlite,
                              "SELECT workpackage, parent FROM parent ORDER BY 1, 2");
    for (auto child = all.begin(); parents.executeStep();) {
      const long long id = parents.getColumn(0).getInt64();
      while (child != all.end() && child->id != id)
        ++child;
      if (child != all.end())
        child->parents.push_back(parents.getColumn(1).getInt64());
    }
    return all;
  });
}

Workpackage Workspace::workpackage(long long id) const {
  return translated(database_->sqlite, [&] {
    SQLite::Statement select(database_->sqlite, std::string(select_workpackages) + "WHERE id = ?");
    select.bind(1, static_cast<std::int64_t>(id));
    if (!select.executeStep())
      throw Error(fmt::format("there is no workpackage {}", id));
    Workpackage workpackage = read_workpackage(select);
    SQLite::Statement parents(database_->sqlite,
                              "SELECT parent FROM parent WHERE workpackage = ? ORDER BY 1");
    parents.bind(1, static_cast<std::int64_t>(id));
    while (parents.executeStep())
      workpackage.parents.push_back(parents.getColumn(0).getInt64());
    return workpackage;
  });
}

EnvironmentChanges Workspace::environment(long long id) const {
  return translated(database_->sqlite, [&] {
    SQLite::Statement select(database_->sqlite, "SELECT environment FROM workpackage WHERE id = ?");
    select.bind(1, static_cast<std::int64_t>(id));
    EnvironmentChanges changes;
    if (!select.executeStep() || select.getColumn(0).isNull())
      return changes;
    const auto object = nlohmann::ordered_json::parse(select.getColumn(0).getString());
    for (const auto& [name, value] : object.items())
      changes.emplace_back(
          name, value.is_null() ? std::nullopt : std::optional(value.get<std::string>()));
    return changes;
  });
}

std::vector<Attempt> Workspace::attempts() const {
  return translated(database_->sqlite, [&] {
    return read_attempts(database_->sqlite,
                         "FROM workpackage AS w JOIN attempt AS a "
                         "ON a.workpackage = w.id AND a.number = w.attempts ORDER BY w.id");
  });
}

std::vector<Attempt> Workspace::submitted_attempts() const {
  return translated(database_->sqlite, [&] {
    return read_attempts(database_->sqlite,
                         "FROM attempt AS a WHERE a.submission <> '' "
                         "ORDER BY a.workpackage, a.number");
  });
}

std::vector<StepCounts> Workspace::counts() const {
  return translated(database_->sqlite, [&] {
    std::vector<StepCounts> all;
    SQLite::Statement select(
        database_->sqlite,
        "SELECT step, sum(state = 'ready'), sum(state = 'running'), "
        "sum(state = 'submitted'), sum(state = 'pending'), "
        "sum(state = 'done'), sum(state = 'failed') FROM workpackage GROUP BY step "
        "ORDER BY min(id)");
    while (select.executeStep())
      all.push_back({.step = select.getColumn(0).getString(),
                     .ready = select.getColumn(1).getInt64(),
                     .running = select.getColumn(2).getInt64(),
                     .submitted = select.getColumn(3).getInt64(),
                     .pending = select.getColumn(4).getInt64(),
                     .done = select.getColumn(5).getInt64(),
                     .failed = select.getColumn(6).getInt64()});
    return all;
  });
}

std::optional<double> Workspace::last_change_unix_s() const {
  return translated(database_->sqlite, [&] {
    SQLite::Statement select(
        database_->sqlite,
        "SELECT max(max(claimed_unix_s, coalesce(ended_unix_s, 0))) FROM attempt");
    select.executeStep();
    return optional_real(select, 0);
  });
}

void Workspace::replace_findings(const std::string& analyser,
                                 const std::vector<Finding>& findings) {
  translated(database_->sqlite, [&] {
    SQLite::Database& sqlite = database_->sqlite;
    SQLite::Transaction transaction(sqlite, SQLite::TransactionBehavior::IMMEDIATE);
    SQLite::Statement clear(sqlite, "DELETE FROM finding WHERE analyser = ?");
    clear.bind(1, analyser);
    clear.exec();
    SQLite::Statement insert(sqlite,
                             "INSERT INTO finding (analyser, workpackage, name, value, unit, "
                             "estimated, absent_reason) VALUES (?, ?, ?, ?, ?, ?, ?)");
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
    SQLite::Statement record(sqlite, std::string("INSERT OR REPLACE INTO analysis (analyser, "
                                                 "ended_workpackages) VALUES (?, (") +
                                         count_ended + "))");
    record.bind(1, analyser);
    record.exec();
    transaction.commit();
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
