#include "database.hpp"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/transition.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::workspace {
namespace {

using Json = nlohmann::ordered_json;

/// The columns of a workpackage that can change, in the order of `read_state_columns`.
constexpr const char* state_columns =
    "state, reason, attempts, prepared, cycle, command, expanded, expanded_ahead, retries, "
    "timeouts, times_lost";

/// The columns of an attempt that can change, in the order of `read_attempt`.
constexpr const char* attempt_columns =
    "uuid, host, job_id, submission, task, waits_for, claimed_unix_s, started_unix_s, "
    "ended_unix_s, exit_code, outcome, reason";

/// Collects the parameters while nlohmann's parser reads them; a function that returns false ends
/// the parser. Building a tree first would take most of the time of reading 100,000 workpackages.
class ParametersReader : public nlohmann::json_sax<Json> {
 public:
  Parameters take() { return std::move(parameters_); }

  bool start_object(std::size_t) override { return !std::exchange(inside_, true); }
  bool key(std::string& name) override {
    parameters_.emplace_back(std::move(name), std::string());
    return true;
  }
  bool string(std::string& value) override {
    if (!inside_)
      return false;
    parameters_.back().second = std::move(value);
    return true;
  }
  bool end_object() override { return true; }

  bool null() override { return false; }
  bool boolean(bool) override { return false; }
  bool number_integer(Json::number_integer_t) override { return false; }
  bool number_unsigned(Json::number_unsigned_t) override { return false; }
  bool number_float(Json::number_float_t, const std::string&) override { return false; }
  bool binary(Json::binary_t&) override { return false; }
  bool start_array(std::size_t) override { return false; }
  bool end_array() override { return false; }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return false;
  }

 private:
  Parameters parameters_;
  bool inside_ = false;
};

/// Reads an object of texts, and keeps their order.
Parameters read_parameters(const std::string& json) {
  ParametersReader reader;
  constexpr std::size_t shown = 200;
  if (!Json::sax_parse(json, &reader))
    throw Error(Id::damaged_data,
                "the workspace has parameters that are not an object of strings: " +
                    to_valid_utf8(json.substr(0, shown)),
                "it is damaged, or was not written by bench");
  return reader.take();
}

std::string to_json(const Parameters& parameters) {
  Json object = Json::object();
  for (const auto& [name, value] : parameters)
    object[name] = to_valid_utf8(value);
  return object.dump();
}

/// An object of texts and nulls; nothing for no changes.
std::optional<std::string> to_json(const EnvironmentChanges& changes) {
  if (changes.empty())
    return std::nullopt;
  Json object = Json::object();
  for (const auto& [name, value] : changes)
    object[to_valid_utf8(name)] = value ? Json(to_valid_utf8(*value)) : Json();
  return object.dump();
}

/// Checks that the directory is directly in the run directory: anybody may have written the row.
std::string directory_name(long long id, std::string name) {
  if (name == "." || name == ".." || name.find('/') != std::string::npos)
    throw Error(
        Id::damaged_data,
        fmt::format("the directory of workpackage {}, '{}', is not in the run directory", id, name),
        "nothing was read or removed");
  return name;
}

/// @param first of the columns
void read_state_columns(SQLite::Statement& row, int first, Workpackage& workpackage) {
  workpackage.state = state_of(row.getColumn(first).getString());
  workpackage.reason = row.getColumn(first + 1).getString();
  workpackage.attempts = row.getColumn(first + 2).getInt();
  workpackage.progress = {.prepared = row.getColumn(first + 3).getInt() != 0,
                          .cycle = row.getColumn(first + 4).getInt(),
                          .command = row.getColumn(first + 5).getInt()};
  workpackage.expanded = row.getColumn(first + 6).getInt() != 0;
  workpackage.expanded_ahead = row.getColumn(first + 7).getInt() != 0;
  workpackage.retries = row.getColumn(first + 8).getInt();
  workpackage.timeouts = row.getColumn(first + 9).getInt();
  workpackage.times_lost = row.getColumn(first + 10).getInt();
}

/// Runs a statement that ends in the values of `state_columns`.
template <class... Others>
void run_with_state(SQLite::Statement& statement, const Workpackage& workpackage,
                    const Others&... others) {
  const Progress& progress = workpackage.progress;
  run(statement, others..., std::string(name_of(workpackage.state)),
      to_valid_utf8(workpackage.reason), workpackage.attempts, progress.prepared ? 1 : 0,
      progress.cycle, progress.command, workpackage.expanded ? 1 : 0,
      workpackage.expanded_ahead ? 1 : 0, workpackage.retries, workpackage.timeouts,
      workpackage.times_lost);
}

/// Runs a statement whose parameters are the key of an attempt and the values of `attempt_columns`.
void run_with(SQLite::Statement& statement, const Attempt& attempt) {
  run(statement, attempt.workpackage, attempt.number, attempt.uuid, attempt.host, attempt.job_id,
      attempt.submission, attempt.task, attempt.waits_for, attempt.claimed_unix_s,
      attempt.started_unix_s, attempt.ended_unix_s, attempt.exit_code, attempt.outcome,
      to_valid_utf8(attempt.reason));
}

}  // namespace

std::string select_workpackages(const std::string& rest) {
  return fmt::format(
      "SELECT id, step, iteration, combination, parameters, directory, {} FROM workpackage {}",
      state_columns, rest);
}

Workpackage read_workpackage(SQLite::Statement& row) {
  Workpackage workpackage;
  workpackage.id = row.getColumn(0).getInt64();
  workpackage.step = row.getColumn(1).getString();
  workpackage.iteration = row.getColumn(2).getInt();
  workpackage.combination = row.getColumn(3).getInt64();
  workpackage.parameters = read_parameters(row.getColumn(4).getString());
  workpackage.directory = directory_name(workpackage.id, row.getColumn(5).getString());
  read_state_columns(row, 6, workpackage);
  return workpackage;
}

std::string select_attempts(const std::string& from) {
  static const std::string columns = "a." + replace_all(attempt_columns, ", ", ", a.");
  return fmt::format("SELECT a.workpackage, a.number, {} {}", columns, from);
}

Attempt read_attempt(SQLite::Statement& row) {
  Attempt attempt;
  attempt.workpackage = row.getColumn(0).getInt64();
  attempt.number = row.getColumn(1).getInt();
  attempt.uuid = row.getColumn(2).getString();
  attempt.host = row.getColumn(3).getString();
  attempt.job_id = row.getColumn(4).getString();
  if (attempt.job_id.starts_with('-'))  // scancel, say, would take it for an option
    throw Error(Id::damaged_data, fmt::format("'{}' is not a job id", attempt.job_id),
                "who has written the workspace?");
  attempt.submission = row.getColumn(5).getString();
  if (!row.getColumn(6).isNull())
    attempt.task = row.getColumn(6).getInt();
  attempt.waits_for = row.getColumn(7).getString();
  attempt.claimed_unix_s = row.getColumn(8).getDouble();
  attempt.started_unix_s = optional_real(row, 9);
  attempt.ended_unix_s = optional_real(row, 10);
  if (!row.getColumn(11).isNull())
    attempt.exit_code = row.getColumn(11).getInt();
  attempt.outcome = row.getColumn(12).getString();
  attempt.reason = row.getColumn(13).getString();
  return attempt;
}

EnvironmentChanges read_environment(const SQLite::Database& sqlite, SQLite::Statement& row,
                                    int column, long long workpackage) {
  EnvironmentChanges changes;
  if (row.getColumn(column).isNull())
    return changes;
  const auto object = Json::parse(row.getColumn(column).getString(), nullptr, false);
  for (const auto& [name, value] : object.items()) {
    if (!object.is_object() || !(value.is_null() || value.is_string()))
      throw damaged(
          sqlite,
          fmt::format("the environment of workpackage {} is not an object of texts", workpackage));
    changes.emplace_back(name,
                         value.is_null() ? std::nullopt : std::optional(value.get<std::string>()));
  }
  return changes;
}

std::optional<double> optional_real(SQLite::Statement& row, int column) {
  return row.getColumn(column).isNull() ? std::nullopt
                                        : std::optional(row.getColumn(column).getDouble());
}

void insert(Statements& statements, const Workpackage& workpackage,
            const EnvironmentChanges& environment) {
  static const std::string sql = fmt::format(
      "INSERT INTO workpackage (id, step, iteration, combination, parameters, directory, "
      "environment, {}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      state_columns);
  run_with_state(statements.of(sql), workpackage, workpackage.id, workpackage.step,
                 workpackage.iteration, workpackage.combination, to_json(workpackage.parameters),
                 workpackage.directory, to_json(environment));
  for (const long long parent : workpackage.parents)
    run(statements.of("INSERT INTO parent (workpackage, parent) VALUES (?, ?)"), workpackage.id,
        parent);
}

void insert(Statements& statements, const Attempt& attempt) {
  static const std::string sql = fmt::format(
      "INSERT INTO attempt (workpackage, number, {}) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      attempt_columns);
  run_with(statements.of(sql), attempt);
}

std::optional<Workpackage> read_state(Statements& statements, long long id) {
  static const std::string sql =
      fmt::format("SELECT {} FROM workpackage WHERE id = ?", state_columns);
  SQLite::Statement& select = statements.of(sql);
  select.tryReset();
  bind(select, 1, id);
  std::optional<Workpackage> workpackage;
  if (select.executeStep()) {
    workpackage.emplace().id = id;
    read_state_columns(select, 0, *workpackage);
  }
  select.reset();
  return workpackage;
}

void update_state(Statements& statements, const Workpackage& workpackage,
                  const EnvironmentChanges* environment) {
  static const std::string sql = fmt::format(
      "UPDATE workpackage SET environment = iif(?2, ?3, environment), ({}) = "
      "(?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) WHERE id = ?1",
      state_columns);
  run_with_state(statements.of(sql), workpackage, workpackage.id, environment ? 1 : 0,
                 environment ? to_json(*environment) : std::nullopt);
}

std::optional<Attempt> read_latest_attempt(Statements& statements, const Workpackage& workpackage) {
  static const std::string sql =
      select_attempts("FROM attempt AS a WHERE workpackage = ? AND number = ?");
  SQLite::Statement& select = statements.of(sql);
  select.tryReset();
  bind(select, 1, workpackage.id);
  bind(select, 2, workpackage.attempts);
  std::optional<Attempt> attempt;
  if (select.executeStep())
    attempt = read_attempt(select);
  select.reset();
  return attempt;
}

void update(Statements& statements, const Attempt& attempt) {
  static const std::string sql = fmt::format(
      "UPDATE attempt SET ({}) = (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) "
      "WHERE workpackage = ?1 AND number = ?2",
      attempt_columns);
  run_with(statements.of(sql), attempt);
}

namespace {

/// Writes events into the rows of the workpackages and of their latest attempts.
class Replay {
 public:
  explicit Replay(Statements& statements) : statements_(statements) {}

  void write(const Event& event) {
    std::visit([&](const auto& one) { change(one, environment_after(event)); }, event);
  }

 private:
  /// An event of one workpackage.
  template <class SomeEvent>
  void change(const SomeEvent& event, const EnvironmentChanges* environment) {
    const Workpackage workpackage = change_row(event.workpackage, event, environment);
    if constexpr (requires(Attempt & attempt) { apply(event, attempt, now_); })
      if (auto attempt = read_latest_attempt(statements_, workpackage)) {
        apply(event, *attempt, now_);
        update(statements_, *attempt);
      }
    if constexpr (std::is_same_v<SomeEvent, Reopened>)
      forget_analysis_of({event.workpackage});
  }

  void change(const Claimed& event, const EnvironmentChanges* environment) {
    const Workpackage workpackage = change_row(event.workpackage, event, environment);
    insert(statements_, {.workpackage = workpackage.id,
                         .number = workpackage.attempts,
                         .uuid = event.uuid,
                         .host = event.host,
                         .claimed_unix_s = now_});
  }

  void change(const Expanded& event, const EnvironmentChanges*) { expand(event); }
  void change(const ExpandedAhead& event, const EnvironmentChanges*) { expand(event); }

  void change(const Reset& event, const EnvironmentChanges* environment) {
    for (const long long id : event.workpackages)
      change_row(id, event, environment);
    delete_for_all(event.workpackages, {forget_findings});
    forget_analysis_of(event.workpackages);
  }

  void change(const Removed& event, const EnvironmentChanges*) {
    delete_for_all(event.workpackages,
                   {forget_findings, "DELETE FROM attempt WHERE workpackage IN ",
                    "DELETE FROM parent WHERE workpackage IN ",
                    "DELETE FROM parent WHERE parent IN ", "DELETE FROM workpackage WHERE id IN "});
    forget_analysis_of(event.workpackages);
  }

  template <class Expansion>
  void expand(const Expansion& event) {
    for (const long long parent : event.parents)
      change_row(parent, event, nullptr);
    for (const Workpackage& child : event.children)
      insert(statements_, child);
  }

  template <class SomeEvent>
  Workpackage change_row(long long id, const SomeEvent& event,
                         const EnvironmentChanges* environment) {
    std::optional<Workpackage> workpackage = read_state(statements_, id);
    if (!workpackage)
      throw Error(Id::unknown_run,
                  fmt::format("cannot {} workpackage {}: it does not exist",
                              transition_of(event.change()).verb, id),
                  "did another program change the workspace?");
    apply(event, *workpackage);
    update_state(statements_, *workpackage, environment);
    return *std::move(workpackage);
  }

  static constexpr const char* forget_findings =
      "DELETE FROM found_value WHERE name IN (SELECT id FROM found_name) AND workpackage IN ";

  /// Completes the statements by the list of ids: where there is no index for one, all of them
  /// together take one pass.
  void delete_for_all(const std::vector<long long>& ids,
                      std::initializer_list<const char*> statements) {
    if (ids.empty())
      return;
    const std::string list = nlohmann::json(ids).dump();
    for (const char* sql : statements)
      run(statements_.of(std::string(sql) + "(SELECT value FROM json_each(?))"), list);
  }

  /// Once as many have ended again, an analysis would pass for one of them.
  void forget_analysis_of(const std::vector<long long>& ids) {
    if (!ids.empty())
      run(statements_.of("DELETE FROM analysis"));
  }

  Statements& statements_;
  double now_ = unix_time_now();
};

}  // namespace

void Workspace::replay(const Events& events) {
  if (events.empty())
    return;
  at_once([&] {
    Replay replay(database_->statements);
    for (const Event& event : events)
      replay.write(event);
  });
}

}  // namespace bench::workspace
