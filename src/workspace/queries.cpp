#include "database.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/text.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::workspace {
namespace {

constexpr std::array<std::pair<State, std::string_view>, 7> state_names{
    {{State::ready, "ready"},
     {State::running, "running"},
     {State::submitted, "submitted"},
     {State::waiting, "waiting"},
     {State::done, "done"},
     {State::failed, "failed"},
     {State::skipped, "skipped"}}};

std::vector<Attempt> read_attempts(const SQLite::Database& database, const std::string& from) {
  std::vector<Attempt> all;
  SQLite::Statement select(database, select_attempts(from));
  while (select.executeStep())
    all.push_back(read_attempt(select));
  return all;
}

}  // namespace

const std::string* value_of(const Parameters& parameters, std::string_view name) {
  const auto found = std::ranges::find_if(
      parameters, [&](const auto& parameter) { return parameter.first == name; });
  return found == parameters.end() ? nullptr : &found->second;
}

bool is_at(const Parameters& parameters, const Parameters& point) {
  return std::ranges::all_of(point, [&](const auto& assignment) {
    const std::string* value = value_of(parameters, assignment.first);
    return value && *value == assignment.second;
  });
}

StepCounts sum_of(const std::vector<StepCounts>& counts) {
  StepCounts sum;
  for (const StepCounts& step : counts)
    for (const State state : all_states)
      sum.of(state) += step.of(state);
  return sum;
}

std::vector<std::vector<std::string>> table_of(const std::vector<StepCounts>& counts) {
  const StepCounts sum = sum_of(counts);
  std::vector<std::vector<std::string>> rows{{"step", "all"}};
  for (const StepCounts& step : counts)
    rows.push_back({step.step, std::to_string(step.all())});
  for (const State state : all_states) {
    if (sum.of(state) == 0 && state != State::done && state != State::failed)
      continue;
    rows.front().emplace_back(name_of(state));
    for (std::size_t k = 0; k < counts.size(); ++k)
      rows[k + 1].push_back(std::to_string(counts[k].of(state)));
  }
  return rows;
}

std::string text_of(const StepCounts& counts) {
  std::vector<std::string> parts;
  for (const State state : all_states)
    if (counts.of(state) > 0)
      parts.push_back(fmt::format("{} {}", counts.of(state), name_of(state)));
  return join(parts, ", ");
}

std::map<std::string, std::string, std::less<>> values_of(const Parameters& parameters,
                                                          const std::vector<std::string>& names) {
  std::map<std::string, std::string, std::less<>> values;
  for (const std::string& name : names)
    if (const std::string* value = value_of(parameters, name))
      values.emplace(name, *value);
  return values;
}

std::string_view name_of(State state) {
  for (const auto& [known, name] : state_names)
    if (known == state)
      return name;
  return "";
}

State state_of(std::string_view word) {
  for (const auto& [state, name] : state_names)
    if (name == word)
      return state;
  throw Error(Id::damaged_data, fmt::format("the workspace holds an unknown state '{}'", word));
}

void Workspace::expect_steps(std::map<std::string, std::size_t> commands) {
  database_->expected_steps = std::move(commands);
}

void Workspace::check_rows() const {
  if (!database_->expected_steps)
    return;
  static constexpr const char* misfits =
      "WITH step AS MATERIALIZED (SELECT key, value FROM json_each(?)) "
      "SELECT w.id FROM workpackage AS w LEFT JOIN step ON step.key = w.step "
      "WHERE step.key IS NULL OR command NOT BETWEEN 0 AND max(step.value - 1, 0) OR cycle < 0 "
      "OR iteration < 0 OR (state = 'waiting' AND step.value = 0) OR w.id NOT BETWEEN 0 AND 1e15 "
      "UNION ALL SELECT id FROM workpackage AS w WHERE (attempts > 0 OR state IN ('running', "
      "'submitted', 'done')) AND (id, attempts) NOT IN (SELECT workpackage, number FROM attempt) "
      "UNION ALL SELECT id FROM workpackage AS w WHERE state = 'failed' AND attempts = 0 AND NOT "
      "EXISTS (SELECT 1 FROM parent AS p WHERE p.workpackage = w.id) "
      "UNION ALL SELECT workpackage FROM parent AS p WHERE parent >= workpackage OR NOT EXISTS "
      "(SELECT 1 FROM workpackage AS w WHERE w.id = p.parent) LIMIT 1";
  translated(database_->sqlite, [&] {
    SQLite::Statement select(database_->sqlite, misfits);
    select.bind(1, nlohmann::json(*database_->expected_steps).dump());
    if (select.executeStep())
      throw Error(Id::damaged_data,
                  fmt::format("workpackage {} does not fit the benchmark of its run",
                              select.getColumn(0).getInt64()),
                  "the workspace is damaged, or was not written by bench");
  });
  database_->expected_steps.reset();
}

std::vector<Workpackage> Workspace::workpackages() const {
  check_rows();
  return translated(database_->sqlite, [&] {
    std::vector<Workpackage> all;
    SQLite::Statement count(database_->sqlite, "SELECT count(*) FROM workpackage");
    if (count.executeStep())
      all.reserve(static_cast<std::size_t>(count.getColumn(0).getInt64()));
    SQLite::Statement select(database_->sqlite, select_workpackages("ORDER BY id"));
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
  check_rows();
  return translated(database_->sqlite, [&] {
    SQLite::Statement select(database_->sqlite, select_workpackages("WHERE id = ?"));
    select.bind(1, static_cast<std::int64_t>(id));
    if (!select.executeStep())
      throw Error(Id::unknown_run, fmt::format("there is no workpackage {}", id));
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
    return select.executeStep() ? read_environment(database_->sqlite, select, 0, id)
                                : EnvironmentChanges{};
  });
}

std::unordered_map<long long, EnvironmentChanges> Workspace::environments() const {
  return translated(database_->sqlite, [&] {
    std::unordered_map<long long, EnvironmentChanges> all;
    SQLite::Statement select(database_->sqlite,
                             "SELECT id, environment FROM workpackage WHERE environment IS NOT "
                             "NULL");
    while (select.executeStep()) {
      const long long id = select.getColumn(0).getInt64();
      all.emplace(id, read_environment(database_->sqlite, select, 1, id));
    }
    return all;
  });
}

std::vector<Attempt> Workspace::attempts() const {
  check_rows();
  return translated(database_->sqlite, [&] {
    return read_attempts(database_->sqlite,
                         "FROM workpackage AS w JOIN attempt AS a "
                         "ON a.workpackage = w.id AND a.number = w.attempts ORDER BY w.id");
  });
}

std::unordered_set<std::string> Workspace::attempts_of_unfinished() const {
  return translated(database_->sqlite, [&] {
    std::unordered_set<std::string> uuids;
    SQLite::Statement select(database_->sqlite,
                             "SELECT a.uuid FROM workpackage AS w JOIN attempt AS a ON "
                             "a.workpackage = w.id WHERE w.state <> 'done' AND w.state <> "
                             "'failed' AND w.state <> 'skipped'");
    while (select.executeStep())
      uuids.insert(select.getColumn(0).getString());
    return uuids;
  });
}

std::vector<Attempt> Workspace::unsettled_attempts() const {
  check_rows();
  return translated(database_->sqlite, [&] {
    // One pass over each table finds the few; a join of all would look up an attempt for each.
    return read_attempts(database_->sqlite,
                         "FROM workpackage AS w JOIN attempt AS a "
                         "ON a.workpackage = w.id AND a.number = w.attempts WHERE w.id IN "
                         "(SELECT id FROM workpackage WHERE state IN ('running', 'submitted') "
                         "UNION SELECT workpackage FROM attempt WHERE submission <> '') "
                         "AND (w.state IN ('running', 'submitted') OR a.submission <> '') "
                         "ORDER BY w.id");
  });
}

std::vector<Attempt> Workspace::submitted_attempts() const {
  check_rows();
  return translated(database_->sqlite, [&] {
    return read_attempts(database_->sqlite,
                         "FROM attempt AS a WHERE a.submission <> '' "
                         "ORDER BY a.workpackage, a.number");
  });
}

std::vector<StepCounts> Workspace::counts() const {
  return translated(database_->sqlite, [&] {
    std::vector<StepCounts> all;
    // The index of both answers it; a sum for each state would look at every row seven times.
    SQLite::Statement select(database_->sqlite,
                             "SELECT step, state, count(*) FROM workpackage GROUP BY step, state "
                             "ORDER BY min(id)");
    while (select.executeStep()) {
      const std::string step = select.getColumn(0).getString();
      auto counts = std::ranges::find(all, step, &StepCounts::step);
      if (counts == all.end())
        counts = all.insert(all.end(), StepCounts{.step = step});
      counts->of(state_of(select.getColumn(1).getString())) = select.getColumn(2).getInt64();
    }
    return all;
  });
}

std::map<std::string, std::set<int>> Workspace::waiting_at() const {
  return translated(database_->sqlite, [&] {
    std::map<std::string, std::set<int>> commands;
    SQLite::Statement select(
        database_->sqlite,
        "SELECT DISTINCT step, command FROM workpackage WHERE state = 'waiting'");
    while (select.executeStep())
      commands[select.getColumn(0).getString()].insert(select.getColumn(1).getInt());
    return commands;
  });
}

bool Workspace::is_finished(const std::set<std::string>& steps_with_children) const {
  return translated(database_->sqlite, [&] {
    SQLite::Statement select(
        database_->sqlite,
        "SELECT EXISTS (SELECT 1 FROM workpackage) AND NOT EXISTS (SELECT 1 FROM workpackage "
        "WHERE state NOT IN ('done', 'failed', 'skipped') OR (state = 'done' AND expanded = 0 AND "
        "step IN "
        "(SELECT value FROM json_each(?))))");
    select.bind(1, nlohmann::json(steps_with_children).dump());
    select.executeStep();
    return select.getColumn(0).getInt() != 0;
  });
}

std::optional<double> Workspace::first_claim_unix_s() const {
  return translated(database_->sqlite, [&] {
    SQLite::Statement select(database_->sqlite,
                             "SELECT min(claimed_unix_s) FROM attempt WHERE claimed_unix_s > 0");
    select.executeStep();
    return optional_real(select, 0);
  });
}

std::optional<double> Workspace::last_change_unix_s() const {
  return translated(database_->sqlite, [&] {
    SQLite::Statement select(
        database_->sqlite,
        "SELECT nullif(max(max(claimed_unix_s, coalesce(ended_unix_s, 0))), 0) FROM attempt");
    select.executeStep();
    return optional_real(select, 0);
  });
}

}  // namespace bench::workspace
