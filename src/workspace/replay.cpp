#include "database.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/time.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/transition.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::workspace {
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
