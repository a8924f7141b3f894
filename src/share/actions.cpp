#include "actions.hpp"

#include "environment.hpp"
#include "input_files.hpp"
#include "json_ld.hpp"
#include "metadata.hpp"
#include "package.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/value.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/space/metadata.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::crate {
namespace {

using tabulate::TidyColumn;
using workspace::Attempt;
using workspace::State;
using workspace::Workpackage;

std::string parameter_id(const std::string& name) {
  return "#parameter/" + uri_path(name);
}

std::string output_id(const std::string& name) {
  return "#output/" + uri_path(name);
}

Json json_of(const Value& value) {
  if (const auto* integer = std::get_if<long long>(&value))
    return *integer;
  if (const auto* real = std::get_if<double>(&value); real && std::isfinite(*real))
    return *real;
  return to_text(value);
}

std::string action_id(const Workpackage& workpackage) {
  return fmt::format("#workpackage/{}", workpackage.id);
}

const char* status_of(State state) {
  switch (state) {
    case State::done:
      return "http://schema.org/CompletedActionStatus";
    case State::failed:
      return "http://schema.org/FailedActionStatus";
    case State::running:
    case State::submitted:
    case State::waiting:
      return "http://schema.org/ActiveActionStatus";
    case State::ready:
    case State::skipped:
      break;
  }
  return "http://schema.org/PotentialActionStatus";
}

/// The type of all values of a column.
const char* type_of_column(const CrateSource& described, std::size_t column) {
  bool integer = true;
  bool number = true;
  for (const auto& row : described.tidy.table.rows)
    if (const auto& value = row[column].value) {
      integer = integer && std::holds_alternative<long long>(*value);
      number = number && !std::holds_alternative<std::string>(*value);
    }
  return integer ? "Integer" : number ? "Float" : "Text";
}

/// The properties of a parameter, derived from all of its values.
struct ParameterKind {
  std::string name;
  bool integer = true;
  bool number = true;

  void take(const std::string& value) {
    integer = integer && parse_integer(value).has_value();
    number = number && parse_number(value).has_value();
  }
  const char* type() const { return integer ? "Integer" : number ? "Float" : "Text"; }
};

/// In the order in which they appear.
std::vector<ParameterKind> parameters_of(const CrateSource& described) {
  std::vector<ParameterKind> kinds;
  std::map<std::string, std::size_t> places;
  for (const Workpackage& one : described.tidy.workpackages)
    for (const auto& [name, value] : one.parameters) {
      const auto [place, is_new] = places.try_emplace(name, kinds.size());
      if (is_new)
        kinds.push_back({.name = name});
      kinds[place->second].take(value);
    }
  return kinds;
}

/// Workpackages share parameter values: each distinct value is one entity.
class Actions {
 public:
  Actions(const CrateSource& described, EntityList& graph) : described_(described), graph_(graph) {
    for (const Attempt& attempt : described.tidy.attempts)
      attempts_[attempt.workpackage] = &attempt;
    for (const Workpackage& one : described.tidy.workpackages)
      directories_[one.directory] = one.id;
    // `run/000003_train/work/stdout`
    for (const PackedFile& file : described.files) {
      const auto parts = split(file.path, "/");
      if (parts.size() > 2 && parts[0] == "run")
        if (const auto found = directories_.find(parts[1]); found != directories_.end())
          files_[found->second].push_back(uri_path(file.path));
    }
  }

  void add_all();

 private:
  void add_formal_parameters();
  void add_run();
  void add_engine();
  void add_workpackage(std::size_t row);
  void add_place_and_job(const Attempt& attempt, Json& action);
  void add_values(std::size_t row, Json& action);
  std::string value_id(const std::string& name, const std::string& value);
  const char* status_of_run() const;

  const CrateSource& described_;
  EntityList& graph_;
  std::map<long long, const Attempt*> attempts_;
  std::map<std::string, long long> directories_;
  std::map<long long, std::vector<std::string>> files_;
  std::map<std::string, std::map<std::string, std::size_t>> values_;
  std::vector<std::string> value_ids_;
  std::set<std::string> hosts_;
  std::set<std::string> jobs_;
};

void Actions::add_formal_parameters() {
  for (const ParameterKind& kind : parameters_of(described_)) {
    Json entity = EntityList::entity(parameter_id(kind.name), "FormalParameter");
    entity["name"] = kind.name;
    entity["additionalType"] = kind.type();
    graph_.add(entity);
  }
  const tabulate::TidyTable& tidy = described_.tidy;
  for (std::size_t k = 0; k < tidy.columns.size(); ++k) {
    if (tidy.columns[k] != TidyColumn::finding)
      continue;
    const result::Heading& heading = tidy.table.headings[k];
    Json entity = EntityList::entity(output_id(heading.title), "FormalParameter");
    entity["name"] = heading.title;
    entity["additionalType"] = type_of_column(described_, k);
    if (!heading.unit.empty())
      entity["unitText"] = heading.unit;
    graph_.add(entity);
  }
}

std::string Actions::value_id(const std::string& name, const std::string& value) {
  auto& known = values_[name];
  const auto [found, is_new] = known.try_emplace(value, known.size());
  const std::string id = fmt::format("{}/{}", parameter_id(name), found->second);
  if (is_new) {
    Json entity = EntityList::entity(id, "PropertyValue");
    entity["name"] = name;
    entity["value"] = value;
    entity["exampleOfWork"] = reference(parameter_id(name));
    graph_.add(entity);
    value_ids_.push_back(id);
  }
  return id;
}

const char* Actions::status_of_run() const {
  bool has_failed = false;
  for (const Workpackage& one : described_.tidy.workpackages) {
    if (!one.has_ended())
      return status_of(State::running);
    has_failed = has_failed || one.state == State::failed;
  }
  return status_of(has_failed ? State::failed : State::done);
}

void Actions::add_run() {
  const setup::RunMetadata& metadata = described_.run.metadata;
  Json action = EntityList::entity(run_action_id, "CreateAction");
  action["name"] = fmt::format("Run {} of {}", metadata.id, metadata.benchmark);
  action["instrument"] = reference(resolved_file);
  action["startTime"] = setup::start_for_programs(described_.run.metadata);
  const char* status = status_of_run();
  if (const auto end = end_of_run(described_); end && status != status_of(State::running))
    action["endTime"] = *end;
  action["actionStatus"] = status;
  set_references(action, "object", value_ids_);
  std::vector<std::string> results;
  for (const PackedFile& file : described_.files)
    if (file.path.starts_with("run/result/") || file.path == "run/workspace.db")
      results.push_back(uri_path(file.path));
  set_references(action, "result", results);
  std::vector<std::string> items;
  for (const EnvironmentItem& item : described_.environment)
    items.push_back("#environment/" + uri_path(item.name));
  set_references(action, "environment", items);
  graph_.add(action);
}

void Actions::add_engine() {
  const std::string& version = described_.run.metadata.bench_version;
  Json bench = EntityList::entity("#bench", "SoftwareApplication");
  bench["name"] = "bench";
  bench["softwareVersion"] = version;
  graph_.add(bench);
  std::vector<std::string> controls;
  for (const model::Step& step : described_.run.benchmark.steps) {
    std::vector<std::string> ids;
    for (const Workpackage& one : described_.tidy.workpackages)
      if (one.step == step.name)
        ids.push_back(action_id(one));
    if (ids.empty())
      continue;
    controls.push_back("#control/" + uri_path(step.name));
    Json control = EntityList::entity(controls.back(), "ControlAction");
    control["name"] = "workpackages of " + step.name;
    control["instrument"] = reference(step_id(step.name));
    set_references(control, "object", ids);
    graph_.add(control);
  }
  Json engine = EntityList::entity(engine_action_id, "OrganizeAction");
  engine["name"] = "bench " + version;
  engine["instrument"] = reference("#bench");
  set_references(engine, "object", controls);
  engine["result"] = reference(run_action_id);
  engine["startTime"] = setup::start_for_programs(described_.run.metadata);
  graph_.add(engine);
}

void Actions::add_place_and_job(const Attempt& attempt, Json& action) {
  if (!attempt.host.empty()) {
    const std::string id = "#host/" + uri_path(attempt.host);
    if (hosts_.insert(id).second) {
      Json host = EntityList::entity(id, "Place");
      host["name"] = attempt.host;
      graph_.add(host);
    }
    action["location"] = reference(id);
  }
  if (!attempt.job_id.empty()) {
    const std::string id = "#job/" + uri_path(attempt.job_id);
    if (jobs_.insert(id).second) {
      Json job = EntityList::entity(id, "PropertyValue");
      job["name"] = "job id";
      job["value"] = attempt.job_id;
      graph_.add(job);
    }
    action["identifier"] = reference(id);
  }
}

/// Energies and powers are resource usage, other values are results.
void Actions::add_values(std::size_t row, Json& action) {
  const tabulate::TidyTable& tidy = described_.tidy;
  const Workpackage& workpackage = described_.tidy.workpackages[row];
  std::vector<std::string> used;
  std::vector<std::string> results = std::move(files_[workpackage.id]);
  for (std::size_t k = 0; k < tidy.columns.size(); ++k) {
    const bool is_usage = tidy.columns[k] == TidyColumn::meter;
    const result::Cell& cell = tidy.table.rows[row][k];
    if ((!is_usage && tidy.columns[k] != TidyColumn::finding) ||
        (!cell.value && cell.absent_reason.empty()))
      continue;
    const result::Heading& heading = tidy.table.headings[k];
    const std::string id = fmt::format("{}/{}", action_id(workpackage), uri_path(heading.title));
    Json entity = EntityList::entity(id, "PropertyValue");
    entity["name"] = heading.title;
    if (cell.value)
      entity["value"] = json_of(*cell.value);
    if (!heading.unit.empty())
      entity["unitText"] = heading.unit;
    if (!cell.value)
      entity["description"] = "absent: " + cell.absent_reason;
    else if (cell.estimated)
      entity["description"] = "estimated by a model, not measured";
    if (!is_usage)
      entity["exampleOfWork"] = reference(output_id(heading.title));
    graph_.add(entity);
    (is_usage ? used : results).push_back(id);
  }
  set_references(action, "result", results);
  set_references(action, "resourceUsage", used);
}

void Actions::add_workpackage(std::size_t row) {
  const Workpackage& workpackage = described_.tidy.workpackages[row];
  Json action = EntityList::entity(action_id(workpackage), "CreateAction");
  action["name"] = fmt::format("workpackage {}: {}, iteration {}", workpackage.id, workpackage.step,
                               workpackage.iteration);
  action["instrument"] = reference(program_id(workpackage.step));
  action["actionStatus"] = status_of(workpackage.state);
  if (workpackage.state == State::failed)
    action["error"] = workpackage.reason;
  else if (!workpackage.reason.empty())
    action["description"] = workpackage.reason;
  if (const auto found = attempts_.find(workpackage.id); found != attempts_.end()) {
    const Attempt& attempt = *found->second;
    if (attempt.started_unix_s)
      action["startTime"] = utc_time_at(*attempt.started_unix_s);
    if (attempt.ended_unix_s)
      action["endTime"] = utc_time_at(*attempt.ended_unix_s);
    add_place_and_job(attempt, action);
  }
  std::vector<std::string> values;
  for (const auto& [name, value] : workpackage.parameters)
    values.push_back(value_id(name, value));
  set_references(action, "object", values);
  add_values(row, action);
  graph_.add(action);
}

void Actions::add_all() {
  add_formal_parameters();
  for (std::size_t row = 0; row < described_.tidy.workpackages.size(); ++row)
    add_workpackage(row);
  add_run();
  add_engine();
}

}  // namespace

std::string step_id(const std::string& step) {
  return "#step/" + uri_path(step);
}

std::string program_id(const std::string& step) {
  return "#program/" + uri_path(step);
}

std::vector<std::string> parameter_ids(const CrateSource& described) {
  std::vector<std::string> ids;
  for (const ParameterKind& kind : parameters_of(described))
    ids.push_back(parameter_id(kind.name));
  return ids;
}

std::vector<std::string> output_ids(const CrateSource& described) {
  std::vector<std::string> ids;
  for (std::size_t k = 0; k < described.tidy.columns.size(); ++k)
    if (described.tidy.columns[k] == TidyColumn::finding)
      ids.push_back(output_id(described.tidy.table.headings[k].title));
  return ids;
}

std::vector<std::string> parameter_ids_of(const std::string& step, const CrateSource& described) {
  std::vector<std::string> ids;
  std::set<std::string> seen;
  for (const Workpackage& one : described.tidy.workpackages)
    if (one.step == step)
      for (const auto& [name, value] : one.parameters)
        if (seen.insert(name).second)
          ids.push_back(parameter_id(name));
  return ids;
}

std::optional<std::string> end_of_run(const CrateSource& described) {
  std::optional<double> last;
  for (const Attempt& attempt : described.tidy.attempts)
    if (attempt.ended_unix_s)
      last = std::max(last.value_or(0), *attempt.ended_unix_s);
  return last ? std::optional(utc_time_at(*last)) : std::nullopt;
}

void add_size_and_hash(const PackedFile& file, Json& entity) {
  entity["contentSize"] = std::to_string(file.bytes);
  entity["sha256"] = file.sha256;
}

void add_actions(const CrateSource& described, EntityList& graph) {
  Actions(described, graph).add_all();
}

}  // namespace bench::crate
