#include "database.hpp"
#include "parameters_json.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/outcome.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/transition.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::workspace {
namespace {

/// What a change writes into the row of a workpackage beside the state, with parameters from `?2`.
constexpr const char* assignments_of(Change change) {
  switch (change) {
    case Change::expand:
      return "expanded = 1";
    case Change::expand_ahead:
      return "expanded_ahead = 1";
    case Change::claim:
      return "attempts = attempts + 1, reason = ''";
    case Change::intend_submission:
    case Change::submit:
      return "";
    case Change::finish:
      return "reason = ?2, environment = ?3";
    case Change::fail:  // it may be reopened, and go on in the environment in which it waited
      return "reason = ?2";
    case Change::retry:
      return "prepared = 0, cycle = 0, command = 0, environment = NULL, retries = retries + 1, "
             "timeouts = timeouts + ?2";
    case Change::interrupt:
      return "times_lost = times_lost + ?2";
    case Change::advance:
    case Change::wait:
      return "prepared = ?2, cycle = ?3, command = ?4, environment = ?5";
    case Change::skip:
      return "reason = ?2";
    case Change::reopen:
      return "reason = ''";
    case Change::reset:
      break;
  }
  return "expanded = 0, expanded_ahead = 0, prepared = 0, cycle = 0, command = 0, reason = '', "
         "environment = NULL, retries = 0, timeouts = 0, times_lost = 0";
}

/// The statement of a change, which finds no row where the table of transitions forbids it.
std::string update_of(const Transition& transition) {
  std::string legal;  // no IN, for which SQLite builds a table each time
  for (const State state : all_states)
    if (transition.from.contains(state))
      legal += fmt::format("{}state = '{}'", legal.empty() ? "" : " OR ", name_of(state));
  const std::string_view assignments = assignments_of(transition.change);
  return fmt::format(
      "UPDATE workpackage SET state = {}{}{} WHERE id = ?1 AND ({})",
      transition.to ? fmt::format("'{}'", name_of(*transition.to)) : std::string("state"),
      assignments.empty() ? "" : ", ", assignments, legal);
}

const std::string& update_of(Change change) {
  static const auto updates = [] {
    std::array<std::string, transitions.size()> all;
    std::ranges::transform(transitions, all.begin(),
                           [](const Transition& transition) { return update_of(transition); });
    return all;
  }();
  return updates[static_cast<std::size_t>(change)];
}

/// Writes events into the rows of the workpackages and of their latest attempts.
class Replay {
 public:
  explicit Replay(Statements& statements) : statements_(statements) {}

  void operator()(const Expanded& event) { expand(event); }
  void operator()(const ExpandedAhead& event) { expand(event); }

  void operator()(const Claimed& event) {
    change(Change::claim, event.workpackage);
    run(statements_.of("INSERT INTO attempt (workpackage, number, uuid, host, claimed_unix_s) "
                       "VALUES (?1, (SELECT attempts FROM workpackage WHERE id = ?1), ?2, ?3, ?4)"),
        event.workpackage, event.uuid, event.host, now_);
  }

  void operator()(const SubmissionIntended& event) {
    change(Change::intend_submission, event.workpackage);
    run(latest_attempt("submission = ?, task = ?, waits_for = ?"), event.submission, event.task,
        event.waits_for, event.workpackage);
  }

  void operator()(const Submitted& event) {
    change(Change::submit, event.workpackage);
    run(latest_attempt("job_id = ?"), event.job_id, event.workpackage);
  }

  void operator()(const Ended& event) {
    const std::string reason = to_valid_utf8(event.attempt.reason);
    if (change_of(event) == Change::finish)
      change(Change::finish, event.workpackage, reason, to_json(event.environment));
    else
      change(Change::fail, event.workpackage, reason);
    end_attempt(event.workpackage, event.attempt);
  }

  void operator()(const Retried& event) {
    change(Change::retry, event.workpackage, event.attempt.outcome == Outcome::timeout ? 1 : 0);
    end_attempt(event.workpackage, event.attempt);
  }

  void operator()(const Interrupted& event) {
    change(Change::interrupt, event.workpackage, event.lost_in_queue ? 1 : 0);
    run(latest_attempt("ended_unix_s = ?, reason = ?, outcome = 'interrupted'"), now_,
        to_valid_utf8(event.reason), event.workpackage);
  }

  void operator()(const Advanced& event) {
    const Progress& progress = event.progress;
    change(change_of(event), event.workpackage, progress.prepared ? 1 : 0, progress.cycle,
           progress.command, to_json(event.environment));
    run(latest_attempt("ended_unix_s = coalesce(ended_unix_s, ?), "
                       "outcome = iif(outcome = '', 'done', outcome)"),
        now_, event.workpackage);
  }

  void operator()(const Skipped& event) {
    change(Change::skip, event.workpackage, to_valid_utf8(event.reason));
  }

  void operator()(const Reopened& event) {
    change(Change::reopen, event.workpackage);
    run(latest_attempt("outcome = 'done', reason = ''"), event.workpackage);
    forget_analysis_of({event.workpackage});
  }

  void operator()(const Reset& event) {
    for (const long long id : event.workpackages)
      change(Change::reset, id);
    delete_for_all(event.workpackages, {forget_findings});
    forget_analysis_of(event.workpackages);
  }

  void operator()(const Removed& event) {
    delete_for_all(event.workpackages,
                   {forget_findings, "DELETE FROM attempt WHERE workpackage IN ",
                    "DELETE FROM parent WHERE workpackage IN ",
                    "DELETE FROM parent WHERE parent IN ", "DELETE FROM workpackage WHERE id IN "});
    forget_analysis_of(event.workpackages);
  }

 private:
  template <class Expansion>
  void expand(const Expansion& event) {
    for (const long long parent : event.parents)
      change(change_of(event), parent);
    SQLite::Statement& insert = statements_.of(
        "INSERT INTO workpackage (id, step, iteration, combination, state, "
        "reason, parameters, directory) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    SQLite::Statement& insert_parent =
        statements_.of("INSERT INTO parent (workpackage, parent) VALUES (?, ?)");
    for (const Workpackage& child : event.children) {
      run(insert, child.id, child.step, child.iteration, child.combination,
          std::string(name_of(child.state)), to_valid_utf8(child.reason), to_json(child.parameters),
          child.directory);
      for (const long long parent : child.parents)
        run(insert_parent, child.id, parent);
    }
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

  SQLite::Statement& latest_attempt(const char* assignments) {
    return statements_.of(
        fmt::format("UPDATE attempt SET {} WHERE (workpackage, number) = "
                    "(SELECT id, attempts FROM workpackage WHERE id = ?)",
                    assignments));
  }

  void end_attempt(long long workpackage, const AttemptEnd& end) {
    run(latest_attempt("ended_unix_s = ?, started_unix_s = ?, exit_code = ?, outcome = ?, "
                       "reason = ?, host = iif(? = '', host, ?)"),
        end.ended_unix_s.value_or(now_), end.started_unix_s, end.exit_code,
        std::string(name_of(end.outcome)), to_valid_utf8(end.reason), end.host, end.host,
        workpackage);
  }

  /// Makes a change to the row of a workpackage.
  /// @param values for the parameters of its assignments
  template <class... Values>
  void change(Change change, long long id, const Values&... values) {
    if (run(statements_.of(update_of(change)), id, values...) == 1)
      return;
    SQLite::Statement& select = statements_.of("SELECT state FROM workpackage WHERE id = ?");
    select.tryReset();
    select.bind(1, static_cast<std::int64_t>(id));
    if (!select.executeStep())
      throw Error(fmt::format("cannot {} workpackage {}: it does not exist",
                              transition_of(change).verb, id),
                  "did another program change the workspace?");
    require_legal(change, id, state_of(select.getColumn(0).getString()));
  }

  template <class T>
  static void bind(SQLite::Statement& statement, int index, const T& value) {
    if constexpr (std::is_same_v<T, long long>)
      statement.bind(index, static_cast<std::int64_t>(value));
    else
      statement.bind(index, value);
  }
  template <class T>
  static void bind(SQLite::Statement& statement, int index, const std::optional<T>& value) {
    if (value)
      bind(statement, index, *value);
    else
      statement.bind(index);
  }

  /// Binds the values in order, runs the statement and returns the number of changed rows.
  template <class... Values>
  static int run(SQLite::Statement& statement, const Values&... values) {
    statement.tryReset();  // an earlier transaction may have failed in the middle of it
    [[maybe_unused]] int index = 0;
    (bind(statement, ++index, values), ...);
    const int changed = statement.exec();
    statement.reset();
    return changed;
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
      std::visit(replay, event);
  });
}

}  // namespace bench::workspace
