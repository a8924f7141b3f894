#include "metadata.hpp"

#include "actions.hpp"
#include "environment.hpp"
#include "input_files.hpp"
#include "json_ld.hpp"
#include "package.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/metadata.hpp>

namespace bench::crate {
namespace {

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

constexpr const char* language_id = "#language";
constexpr const char* metadata_file = "ro-crate-metadata.json";

void add_descriptor(EntityList& graph) {
  Json descriptor = EntityList::entity(metadata_file, "CreativeWork");
  descriptor["about"] = reference("./");
  descriptor["conformsTo"] = reference("https://w3id.org/ro/crate/1.3");
  graph.add(descriptor);
  for (const Profile& profile : profiles) {
    Json entity = EntityList::entity(profile.id, "CreativeWork");
    entity["name"] = profile.name;
    entity["version"] = profile.version;
    graph.add(entity);
  }
}

void add_root(const CrateSource& described, EntityList& graph) {
  const setup::RunMetadata& metadata = described.run.metadata;
  Json root = EntityList::entity("./", "Dataset");
  std::vector<std::string> ids;
  for (const Profile& profile : profiles)
    ids.emplace_back(profile.id);
  set_references(root, "conformsTo", ids);
  root["name"] = fmt::format("Run {} of the benchmark {}", metadata.id, metadata.benchmark);
  root["description"] = metadata.comment.empty() ? fmt::format("What bench {} ran, and the results",
                                                               metadata.bench_version)
                                                 : metadata.comment;
  root["identifier"] = "urn:uuid:" + metadata.uuid;
  root["datePublished"] =
      end_of_run(described).value_or(setup::start_for_programs(described.run.metadata));
  root["license"] =
      described.license.empty()
          ? Json("no license was given with `bench export --license`: ask the authors of the run")
          : Json(described.license);
  root["mainEntity"] = reference(resolved_file);
  std::vector<std::string> files;
  for (const PackedFile& file : described.files)
    files.push_back(uri_path(file.path));
  set_references(root, "hasPart", files);
  set_references(root, "mentions", {run_action_id, engine_action_id});
  graph.add(root);
}

/// Adds the resolved input, which is the workflow that ran.
void add_workflow(const CrateSource& described, EntityList& graph) {
  Json workflow = EntityList::entity(
      resolved_file, Json::array({"File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"}));
  workflow["name"] = described.run.metadata.benchmark;
  workflow["description"] = "The input with its includes, sets and tags resolved";
  workflow["programmingLanguage"] = reference(language_id);
  const std::string as_read = input_path_of(described.run);
  for (const PackedFile& file : described.files)
    if (file.path == as_read)
      workflow["isBasedOn"] = reference(uri_path(as_read));
    else if (file.path == resolved_file)
      add_size_and_hash(file, workflow);
  std::vector<std::string> programs;
  std::vector<std::string> steps;
  for (const model::Step& step : described.run.benchmark.steps) {
    programs.push_back(program_id(step.name));
    steps.push_back(step_id(step.name));
  }
  set_references(workflow, "hasPart", programs);
  set_references(workflow, "step", steps);
  set_references(workflow, "input", parameter_ids(described));
  set_references(workflow, "output", output_ids(described));
  graph.add(workflow);
  Json language = EntityList::entity(language_id, "ComputerLanguage");
  language["name"] = "JUBE's input language, with the additions of bench";
  language["alternateName"] = "bench";
  language["version"] = described.run.metadata.bench_version;
  graph.add(language);
}

void add_steps(const CrateSource& described, EntityList& graph) {
  int position = 0;
  for (const model::Step& step : described.run.benchmark.steps) {
    Json entity = EntityList::entity(step_id(step.name), "HowToStep");
    entity["name"] = step.name;
    entity["position"] = std::to_string(position++);
    entity["workExample"] = reference(program_id(step.name));
    graph.add(entity);
    Json program = EntityList::entity(program_id(step.name), "SoftwareApplication");
    program["name"] = "commands of " + step.name;
    std::vector<std::string> commands;
    for (const model::Command& command : step.commands)
      commands.push_back(command.text);
    program["description"] = join(commands, "\n");
    set_references(program, "input", parameter_ids_of(step.name, described));
    graph.add(program);
  }
}

void add_environment(const CrateSource& described, EntityList& graph) {
  for (const EnvironmentItem& item : described.environment) {
    Json entity = EntityList::entity("#environment/" + uri_path(item.name), "PropertyValue");
    entity["name"] = item.name;
    if (item.value.empty())
      entity["description"] = "absent: " + item.absent_reason;
    else
      entity["value"] = item.value;
    graph.add(entity);
  }
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
             : nullptr;
}

void add_files(const CrateSource& described, EntityList& graph) {
  for (const PackedFile& file : described.files) {
    if (file.path == resolved_file)
      continue;
    Json entity = EntityList::entity(uri_path(file.path), "File");
    add_size_and_hash(file, entity);
    if (const char* type = media_type_of(file.path))
      entity["encodingFormat"] = type;
    graph.add(entity);
  }
}

}  // namespace

std::string metadata_json(const CrateSource& described) {
  EntityList graph;
  add_descriptor(graph);
  add_root(described, graph);
  add_workflow(described, graph);
  add_steps(described, graph);
  add_environment(described, graph);
  add_actions(described, graph);
  add_files(described, graph);
  return graph.text();
}

}  // namespace bench::crate
