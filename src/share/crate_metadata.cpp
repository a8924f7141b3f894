#include "crate_package.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

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

using Json = nlohmann::ordered_json;
using results::TidyColumn;
using workspace::Attempt;
using workspace::State;
using workspace::Workpackage;

constexpr const char* run_id = "#run";
constexpr const char* engine_id = "#bench-run";
constexpr const char* language_id = "#language";

struct Profile {
  const char* id;
  const char* name;
  const char* version;
};
constexpr std::array profiles{
    Profile{"https://w3id.org/ro/wfrun/process/0.6", "Process Run Crate", "0.6"},
    Profile{"https://w3id.org/ro/wfrun/workflow/0.6", "Workflow Run Crate", "0.6"},
    Profile{"https://w3id.org/ro/wfrun/provenance/0.6", "Provenance Run Crate", "0.6"},
    Profile{"https://w3id.org/workflowhub/workflow-ro-crate/1.1", "Workflow RO-Crate", "1.1"}};

/// `text` as a part of the path of a URI: slashes stay.
std::string uri_path(std::string_view text) {
  return percent_encoded(text, "/");
}

/// `#step/NAME`
std::string id_of(const char* kind, const std::string& name) {
  return fmt::format("#{}/{}", kind, uri_path(name));
}

std::string id_of(const Workpackage& workpackage) {
  return fmt::format("#workpackage/{}", workpackage.id);
}

Json reference(const std::string& id) {
  return {{"@id", id}};
}

Json references(const std::vector<std::string>& ids) {
  Json list = Json::array();
  for (const std::string& id : ids)
    list.push_back(reference(id));
  return list;
}

Json text_or_nothing(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

Json json_of(const Value& value) {
  if (const auto* integer = std::get_if<long long>(&value))
    return *integer;
  if (const auto* real = std::get_if<double>(&value); real && std::isfinite(*real))
    return *real;
  return to_text(value);
}

Json time_or_nothing(const std::optional<double>& unix_s) {
  return unix_s ? Json(utc_time_at(*unix_s)) : Json();
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

const char* media_type_of(const std::string& path) {
  constexpr std::array<std::pair<const char*, const char*>, 7> types{
      {{".json", "application/json"},
       {".csv", "text/csv"},
       {".xml", "application/xml"},
       {".yaml", "application/yaml"},
       {".md", "text/markdown"},
       {".sh", "application/x-sh"},
       {".db", "application/vnd.sqlite3"}}};
  for (const auto& [ending, type] : types)
    if (path.ends_with(ending))
      return type;
  return path.ends_with("/stdout") || path.ends_with("/stderr") || path.ends_with(".log")
             ? "text/plain"
             : "";
}

/// The type of all values of a parameter or column.
struct CommonType {
  bool integer = true;
  bool number = true;

  void take(bool is_integer, bool is_number) {
    integer = integer && is_integer;
    number = number && is_number;
  }
  const char* name() const { return integer ? "Integer" : number ? "Float" : "Text"; }
};

/// The entities of a crate, in the order in which they are added.
class Graph {
 public:
  explicit Graph(const CrateSource& source)
      : source_(source), tidy_(source.tidy), metadata_(source.run.metadata) {
    std::map<std::string, long long> directories;
    for (const Workpackage& one : tidy_.workpackages) {
      directories[one.directory] = one.id;
      for (const auto& [name, value] : one.parameters) {
        const auto [type, is_new] = types_.try_emplace(name);
        if (is_new)
          parameters_.push_back(name);
        type->second.take(parse_integer(value).has_value(), parse_number(value).has_value());
      }
    }
    for (const Attempt& attempt : tidy_.attempts) {
      attempts_[attempt.workpackage] = &attempt;
      if (attempt.ended_unix_s)
        end_unix_s_ = std::max(end_unix_s_.value_or(0), *attempt.ended_unix_s);
    }
    // `run/000003_train/work/stdout`
    for (const PackedFile& file : source.files) {
      const auto parts = split(file.path, "/");
      if (parts.size() > 2 && parts[0] == "run")
        if (const auto found = directories.find(parts[1]); found != directories.end())
          files_[found->second].push_back(uri_path(file.path));
    }
  }

  /// The whole file, with one line per entity, so that crates can be compared with diff.
  std::string text() {
    add_root();
    add_workflow();
    add_steps();
    add_environment();
    add_formal_parameters();
    for (std::size_t row = 0; row < tidy_.workpackages.size(); ++row)
      add_workpackage(row);
    add_run();
    add_engine();
    add_files();
    return "{\"@context\": [\"https://w3id.org/ro/crate/1.3/context\", "
           "\"https://w3id.org/ro/terms/workflow-run/context\"],\n\"@graph\": [\n" +
           lines_ + "\n]}\n";
  }

 private:
  /// Leaves out members that are null or an empty list: JSON-LD has no empty properties.
  void add(const Json& entity) {
    Json kept = Json::object();
    for (const auto& member : entity.items())
      if (!member.value().is_null() && !(member.value().is_array() && member.value().empty()))
        kept[member.key()] = member.value();
    if (!lines_.empty())
      lines_ += ",\n";
    lines_ += kept.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  void add_root() {
    add({{"@id", "ro-crate-metadata.json"},
         {"@type", "CreativeWork"},
         {"about", reference("./")},
         {"conformsTo", reference("https://w3id.org/ro/crate/1.3")}});
    std::vector<std::string> ids;
    for (const Profile& profile : profiles) {
      ids.emplace_back(profile.id);
      add({{"@id", profile.id},
           {"@type", "CreativeWork"},
           {"name", profile.name},
           {"version", profile.version}});
    }
    std::vector<std::string> files;
    for (const PackedFile& file : source_.files)
      files.push_back(uri_path(file.path));
    add({{"@id", "./"},
         {"@type", "Dataset"},
         {"conformsTo", references(ids)},
         {"name", fmt::format("Run {} of the benchmark {}", metadata_.id, metadata_.benchmark)},
         {"description",
          metadata_.comment.empty()
              ? fmt::format("What bench {} ran, and the results", metadata_.bench_version)
              : metadata_.comment},
         {"identifier", "urn:uuid:" + metadata_.uuid},
         {"datePublished",
          end_unix_s_ ? utc_time_at(*end_unix_s_) : space::start_for_programs(metadata_)},
         {"license", source_.license.empty() ? "no license was given with `bench export "
                                               "--license`: ask the authors of the run"
                                             : source_.license},
         {"mainEntity", reference(resolved_file)},
         {"hasPart", references(files)},
         {"mentions", references({run_id, engine_id})}});
  }

  /// The resolved input is the workflow that ran.
  void add_workflow() {
    Json workflow{
        {"@id", resolved_file},
        {"@type", Json::array({"File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"})},
        {"name", metadata_.benchmark},
        {"description", "The input with its includes, sets and tags resolved"},
        {"programmingLanguage", reference(language_id)}};
    const std::string as_read = input_path_of(source_.run);
    for (const PackedFile& file : source_.files)
      if (file.path == as_read)
        workflow["isBasedOn"] = reference(uri_path(as_read));
      else if (file.path == resolved_file)
        workflow.update({{"contentSize", std::to_string(file.bytes)}, {"sha256", file.sha256}});
    std::vector<std::string> programs;
    std::vector<std::string> steps;
    for (const model::Step& step : source_.run.benchmark.steps) {
      programs.push_back(id_of("program", step.name));
      steps.push_back(id_of("step", step.name));
    }
    std::vector<std::string> inputs;
    for (const std::string& name : parameters_)
      inputs.push_back(id_of("parameter", name));
    std::vector<std::string> outputs;
    for (std::size_t k = 0; k < tidy_.columns.size(); ++k)
      if (tidy_.columns[k] == TidyColumn::finding)
        outputs.push_back(id_of("output", tidy_.table.headings[k].title));
    workflow.update({{"hasPart", references(programs)},
                     {"step", references(steps)},
                     {"input", references(inputs)},
                     {"output", references(outputs)}});
    add(workflow);
    add({{"@id", language_id},
         {"@type", "ComputerLanguage"},
         {"name", "JUBE's input language, with the additions of bench"},
         {"alternateName", "bench"},
         {"version", metadata_.bench_version}});
  }

  void add_steps() {
    int position = 0;
    for (const model::Step& step : source_.run.benchmark.steps) {
      add({{"@id", id_of("step", step.name)},
           {"@type", "HowToStep"},
           {"name", step.name},
           {"position", std::to_string(position++)},
           {"workExample", reference(id_of("program", step.name))}});
      std::vector<std::string> commands;
      for (const model::Command& command : step.commands)
        commands.push_back(command.text);
      add({{"@id", id_of("program", step.name)},
           {"@type", "SoftwareApplication"},
           {"name", "commands of " + step.name},
           {"description", join(commands, "\n")},
           {"input", references(parameters_of(step.name))}});
    }
  }

  /// Ids of the parameters of a step's workpackages.
  std::vector<std::string> parameters_of(const std::string& step) const {
    std::vector<std::string> ids;
    std::set<std::string> seen;
    for (const Workpackage& one : tidy_.workpackages)
      if (one.step == step)
        for (const auto& [name, value] : one.parameters)
          if (seen.insert(name).second)
            ids.push_back(id_of("parameter", name));
    return ids;
  }

  void add_environment() {
    for (const EnvironmentItem& item : source_.environment)
      add({{"@id", id_of("environment", item.name)},
           {"@type", "PropertyValue"},
           {"name", item.name},
           {"description", item.value.empty() ? Json("absent: " + item.absent_reason) : Json()},
           {"value", text_or_nothing(item.value)}});
  }

  void add_formal_parameters() {
    for (const std::string& name : parameters_)
      add({{"@id", id_of("parameter", name)},
           {"@type", "FormalParameter"},
           {"name", name},
           {"additionalType", types_.at(name).name()}});
    for (std::size_t k = 0; k < tidy_.columns.size(); ++k) {
      if (tidy_.columns[k] != TidyColumn::finding)
        continue;
      CommonType type;
      for (const auto& row : tidy_.table.rows)
        if (const auto& value = row[k].value)
          type.take(std::holds_alternative<long long>(*value),
                    !std::holds_alternative<std::string>(*value));
      const results::Heading& heading = tidy_.table.headings[k];
      add({{"@id", id_of("output", heading.title)},
           {"@type", "FormalParameter"},
           {"name", heading.title},
           {"additionalType", type.name()},
           {"unitText", text_or_nothing(heading.unit)}});
    }
  }

  void add_workpackage(std::size_t row) {
    const Workpackage& workpackage = tidy_.workpackages[row];
    const auto found = attempts_.find(workpackage.id);
    const Attempt attempt = found == attempts_.end() ? Attempt{} : *found->second;
    const bool has_failed = workpackage.state == State::failed;
    Json action{{"@id", id_of(workpackage)},
                {"@type", "CreateAction"},
                {"name", fmt::format("workpackage {}: {}, iteration {}", workpackage.id,
                                     workpackage.step, workpackage.iteration)},
                {"instrument", reference(id_of("program", workpackage.step))},
                {"actionStatus", status_of(workpackage.state)},
                {"error", has_failed ? Json(workpackage.reason) : Json()},
                {"description", has_failed ? Json() : text_or_nothing(workpackage.reason)},
                {"startTime", time_or_nothing(attempt.started_unix_s)},
                {"endTime", time_or_nothing(attempt.ended_unix_s)},
                {"location", host_of(attempt)},
                {"identifier", job_of(attempt)}};
    std::vector<std::string> parameters;
    for (const auto& [name, value] : workpackage.parameters)
      parameters.push_back(value_id(name, value));
    action["object"] = references(parameters);
    add_values(row, action);
    add(action);
  }

  Json host_of(const Attempt& attempt) {
    if (attempt.host.empty())
      return {};
    const std::string id = id_of("host", attempt.host);
    if (known_.insert(id).second)
      add({{"@id", id}, {"@type", "Place"}, {"name", attempt.host}});
    return reference(id);
  }

  Json job_of(const Attempt& attempt) {
    if (attempt.job_id.empty())
      return {};
    const std::string id = id_of("job", attempt.job_id);
    if (known_.insert(id).second)
      add({{"@id", id}, {"@type", "PropertyValue"}, {"name", "job id"}, {"value", attempt.job_id}});
    return reference(id);
  }

  /// Workpackages share parameter values: each distinct value is one entity.
  std::string value_id(const std::string& name, const std::string& value) {
    auto& known = values_[name];
    const auto [found, is_new] = known.try_emplace(value, known.size());
    std::string id = fmt::format("{}/{}", id_of("parameter", name), found->second);
    if (is_new) {
      add({{"@id", id},
           {"@type", "PropertyValue"},
           {"name", name},
           {"value", value},
           {"exampleOfWork", reference(id_of("parameter", name))}});
      value_ids_.push_back(id);
    }
    return id;
  }

  /// Energies and powers are resource usage, other values are results.
  void add_values(std::size_t row, Json& action) {
    const Workpackage& workpackage = tidy_.workpackages[row];
    std::vector<std::string> used;
    std::vector<std::string> results = std::move(files_[workpackage.id]);
    for (std::size_t k = 0; k < tidy_.columns.size(); ++k) {
      const bool is_usage = tidy_.columns[k] == TidyColumn::meter;
      const results::Cell& cell = tidy_.table.rows[row][k];
      if ((!is_usage && tidy_.columns[k] != TidyColumn::finding) ||
          (!cell.value && cell.absent_reason.empty()))
        continue;
      const results::Heading& heading = tidy_.table.headings[k];
      const std::string id = fmt::format("{}/{}", id_of(workpackage), uri_path(heading.title));
      add({{"@id", id},
           {"@type", "PropertyValue"},
           {"name", heading.title},
           {"value", cell.value ? json_of(*cell.value) : Json()},
           {"unitText", text_or_nothing(heading.unit)},
           {"description", !cell.value      ? Json("absent: " + cell.absent_reason)
                           : cell.estimated ? Json("estimated by a model, not measured")
                                            : Json()},
           {"exampleOfWork", is_usage ? Json() : reference(id_of("output", heading.title))}});
      (is_usage ? used : results).push_back(id);
    }
    action["result"] = references(results);
    action["resourceUsage"] = references(used);
  }

  State state_of_run() const {
    State state = State::done;
    for (const Workpackage& one : tidy_.workpackages) {
      if (!one.has_ended())
        return State::running;
      if (one.state == State::failed)
        state = State::failed;
    }
    return state;
  }

  void add_run() {
    const State state = state_of_run();
    std::vector<std::string> results;
    for (const PackedFile& file : source_.files)
      if (file.path.starts_with("run/result/") || file.path == "run/workspace.db")
        results.push_back(uri_path(file.path));
    std::vector<std::string> items;
    for (const EnvironmentItem& item : source_.environment)
      items.push_back(id_of("environment", item.name));
    add({{"@id", run_id},
         {"@type", "CreateAction"},
         {"name", fmt::format("Run {} of {}", metadata_.id, metadata_.benchmark)},
         {"instrument", reference(resolved_file)},
         {"startTime", space::start_for_programs(metadata_)},
         {"endTime", state == State::running ? Json() : time_or_nothing(end_unix_s_)},
         {"actionStatus", status_of(state)},
         {"object", references(value_ids_)},
         {"result", references(results)},
         {"environment", references(items)}});
  }

  /// bench's part in the run.
  void add_engine() {
    add({{"@id", "#bench"},
         {"@type", "SoftwareApplication"},
         {"name", "bench"},
         {"softwareVersion", metadata_.bench_version}});
    std::vector<std::string> controls;
    for (const model::Step& step : source_.run.benchmark.steps) {
      std::vector<std::string> ids;
      for (const Workpackage& one : tidy_.workpackages)
        if (one.step == step.name)
          ids.push_back(id_of(one));
      if (ids.empty())
        continue;
      controls.push_back(id_of("control", step.name));
      add({{"@id", controls.back()},
           {"@type", "ControlAction"},
           {"name", "workpackages of " + step.name},
           {"instrument", reference(id_of("step", step.name))},
           {"object", references(ids)}});
    }
    add({{"@id", engine_id},
         {"@type", "OrganizeAction"},
         {"name", "bench " + metadata_.bench_version},
         {"instrument", reference("#bench")},
         {"object", references(controls)},
         {"result", reference(run_id)},
         {"startTime", space::start_for_programs(metadata_)}});
  }

  void add_files() {
    for (const PackedFile& file : source_.files)
      if (file.path != resolved_file)
        add({{"@id", uri_path(file.path)},
             {"@type", "File"},
             {"contentSize", std::to_string(file.bytes)},
             {"sha256", file.sha256},
             {"encodingFormat", text_or_nothing(media_type_of(file.path))}});
  }

  const CrateSource& source_;
  const results::TidyTable& tidy_;
  const space::RunMetadata& metadata_;
  std::string lines_;
  std::vector<std::string> parameters_;  ///< In the order in which they appear.
  std::map<std::string, CommonType> types_;
  std::map<long long, const Attempt*> attempts_;
  std::optional<double> end_unix_s_;  ///< Absent: no workpackage has ended.
  std::map<long long, std::vector<std::string>> files_;
  std::map<std::string, std::map<std::string, std::size_t>> values_;
  std::vector<std::string> value_ids_;
  std::set<std::string> known_;  ///< Ids of hosts and jobs.
};

}  // namespace

std::string metadata_json(const CrateSource& described) {
  return Graph(described).text();
}

}  // namespace bench::crate
