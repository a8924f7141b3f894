#include "database.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/stat.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/base/value.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::workspace {
namespace {

namespace fs = std::filesystem;
using document::Node;

/// A workpackage of JUBE's with what bench keeps in its own tables.
struct JubeWorkpackage {
  Workpackage row;
  EnvironmentChanges environment;
  std::optional<double> ended_unix_s;
};

/// A run that JUBE has made, as bench knows its own.
struct JubeRun {
  std::map<std::string, std::string> facts;
  std::vector<JubeWorkpackage> workpackages;             ///< Ascending by id.
  std::map<std::string, std::vector<Finding>> findings;  ///< By analyser, those of `analyse.xml`.
  bool analysed_since = false;  ///< Nothing has changed after the analysis.
};

[[noreturn]] void refuse(const std::string& what, const Node& node) {
  throw Error(Id::damaged_data, what, "JUBE has not written this", node.place);
}

/// A file of the run, or an empty text where there is none.
std::string text_of(const fs::path& run_directory, const char* name) {
  const fs::path file = run_directory / name;
  const UniqueFd fd = open_below(run_directory, file);
  return fd.valid() ? read_all(fd, file) : "";
}

Node xml_of(const fs::path& run_directory, const char* name) {
  return document::read_plain_xml(text_of(run_directory, name), (run_directory / name).string());
}

/// `start: 2026-01-31 13:05:09` and `change: ...`, by their first word.
std::map<std::string, std::string> timestamps_of(const fs::path& run_directory) {
  std::map<std::string, std::string> times;
  for (const std::string& line : split_names(text_of(run_directory, "timestamps"), "\n"))
    if (const auto colon = line.find(": "); colon != std::string::npos)
      times[line.substr(0, colon)] = strip(line.substr(colon + 2));
  return times;
}

const Node& benchmark_in(const Node& root) {
  const Node* benchmark = root.first("benchmark");
  if (!benchmark)
    refuse("there is no <benchmark>", root);
  return *benchmark;
}

std::map<std::string, std::string> facts_of(const fs::path& run_directory, const Node& root) {
  const Node& benchmark = benchmark_in(root);
  const fs::path canonical = fs::weakly_canonical(fs::absolute(run_directory));
  const auto times = timestamps_of(run_directory);
  const auto time = [&](const char* name) {
    const auto found = times.find(name);
    return found == times.end() ? std::string() : found->second;
  };
  std::vector<std::string> tags;
  for (const Node* selection : root.all("selection"))
    for (const Node* tag : selection->all("tag"))
      tags.emplace_back(strip(tag->text));
  const Node* comment = benchmark.first("comment");
  fs::path home = fs::weakly_canonical(canonical / benchmark.get("file_path_ref", "."));
  if (!home.has_filename())
    home = home.parent_path();
  return {{"benchmark", std::string(strip(benchmark.get("name")))},
          {"comment", comment ? one_line(comment->text) : benchmark.get("comment")},
          {"document", document::to_json(root)},
          {"home", home.string()},
          {"input_file", (canonical / "configuration.xml").string()},
          {"jube_version", root.get("version")},
          {"last_change", time("change")},
          {"platform", "local"},
          {"power_source", ""},
          {"started", time("start")},
          {"tags", join(tags, ",")},
          {"uuid", "jube:" + canonical.string()}};
}

/// The analysed workpackages of a step, and those at which bench keeps what JUBE has found: for all
/// iterations that are reduced to one row it is the first.
std::map<const Node*, long long> representatives(const std::vector<JubeWorkpackage>& all,
                                                 const Node& step, bool reduce) {
  std::map<const Node*, long long> ids;
  std::map<long long, int> groups;  // of each combination
  std::map<const Node*, long long> combinations;
  for (const Node* workpackage : step.all("workpackage")) {
    const auto id = parse_integer(strip(workpackage->get("id"))).value_or(-1);
    const auto found = std::ranges::lower_bound(
        all, id, {}, [](const JubeWorkpackage& one) { return one.row.id; });
    if (found == all.end() || found->row.id != id)
      refuse(fmt::format("there is no workpackage '{}'", workpackage->get("id")), *workpackage);
    ids[workpackage] = id;
    combinations[workpackage] = found->row.combination;
    ++groups[found->row.combination];
  }
  // Iterations whose parameters differ are rows of their own.
  for (auto& [workpackage, id] : ids)
    if (const long long combination = combinations[workpackage]; reduce && groups[combination] == 1)
      id = combination;
  return ids;
}

/// What JUBE has found, at the workpackages at which bench keeps it.
void take_findings(const Node& analysis, const Node& benchmark, JubeRun& run) {
  for (const Node* analyser : analysis.all("analyser")) {
    const std::string name = analyser->get("name");
    bool reduce = true;
    for (const Node* known : benchmark.all("analyser"))
      if (known->get("name") == name)
        reduce = known->flag("reduce");
    std::map<std::pair<long long, std::string>, Value> found;
    for (const Node* step : analyser->all("step"))
      for (const auto& [workpackage, id] : representatives(run.workpackages, *step, reduce))
        for (const Node* pattern : workpackage->all("pattern"))
          found.try_emplace({id, pattern->get("name")},
                            to_value(pattern->text, value_type(pattern->get("type"))));
    std::vector<Finding>& findings = run.findings[name];
    for (auto& [key, value] : found)
      findings.push_back({.workpackage = key.first,
                          .name = key.second,
                          .value = std::move(value),
                          .unit = "",
                          .estimated = false,
                          .absent_reason = ""});
  }
}

/// Whether JUBE has not changed the run since its analysis. It notes the last change as a local
/// time of an unknown zone, but wrote that file then. The files of a copy may have the times of the
/// copying, which do not tell what was first.
bool is_recent(const fs::path& run_directory, const std::string& last_change) {
  constexpr double most_between_zones_s = 26 * 3600;
  const auto changed = parse_local_time(last_change);
  struct stat noted {};
  struct stat analysis {};
  if (!changed || ::stat((run_directory / "timestamps").c_str(), &noted) != 0 ||
      ::stat((run_directory / "analyse.xml").c_str(), &analysis) != 0)
    return true;
  const auto analysed_unix_s = analysis.st_mtim.tv_sec;
  return analysed_unix_s >= noted.st_mtim.tv_sec ||
         static_cast<double>(analysed_unix_s) > *changed + most_between_zones_s;
}

long long number_in(std::string_view text, const Node& node) {
  const auto number = parse_integer(strip(text));
  if (!number || *number < 0)
    refuse(fmt::format("'{}' is not a number of <{}>", strip(text), node.name), node);
  return *number;
}

/// `0,3` in the child of that name.
std::vector<long long> numbers_in(const Node& workpackage, const char* name) {
  std::vector<long long> numbers;
  if (const Node* list = workpackage.first(name))
    for (const std::string& word : split_names(list->text))
      numbers.push_back(number_in(word, *list));
  return numbers;
}

const Node& child(const Node& node, const char* name) {
  const Node* found = node.first(name);
  if (!found)
    refuse(fmt::format("<{}> without a <{}>", node.name, name), node);
  return *found;
}

/// Its own; what it inherits stands with its parents.
Parameters own_parameters(const Node& workpackage) {
  Parameters parameters;
  for (const Node* set : workpackage.all("parameterset"))
    for (const Node* parameter : set->all("parameter")) {
      const Node* chosen = parameter->first("selection");  // of a template, or of a script
      parameters.emplace_back(parameter->get("name"), chosen ? std::string(strip(chosen->text))
                                                             : child(*parameter, "value").text);
    }
  return parameters;
}

void inherit(const Parameters& from, Parameters& parameters) {
  for (const auto& parameter : from)
    if (std::ranges::none_of(parameters,
                             [&](const auto& own) { return own.first == parameter.first; }))
      parameters.push_back(parameter);
}

/// A text as Python's `repr` writes it: `'a\n'`.
std::string python_text(std::string_view text) {
  text = strip(text);
  if (text.size() < 2 || text.front() != text.back() ||
      (text.front() != '\'' && text.front() != '"'))
    return std::string(text);
  text = text.substr(1, text.size() - 2);
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    constexpr std::string_view known = "nrt\\'\"";
    constexpr std::string_view meant = "\n\r\t\\'\"";
    const auto escape =
        text[at] == '\\' && at + 1 < text.size() ? known.find(text[at + 1]) : std::string::npos;
    plain += escape == std::string::npos ? text[at] : meant[escape];
    at += escape == std::string::npos ? 0 : 1;
  }
  return plain;
}

EnvironmentChanges environment_of(const Node& workpackage) {
  EnvironmentChanges changes;
  for (const Node* environment : workpackage.all("environment")) {
    for (const Node* set : environment->all("env"))
      changes.emplace_back(set->get("name"), python_text(set->text));
    for (const Node* unset : environment->all("nonenv"))
      changes.emplace_back(unset->get("name"), std::nullopt);
  }
  return changes;
}

/// The directories of the workpackages by id: `000003_train`, with a suffix where the step has one.
std::unordered_map<long long, std::string> directories_in(const fs::path& run_directory) {
  std::unordered_map<long long, std::string> directories;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(run_directory, unreadable)) {
    const std::string name = entry.path().filename().string();
    const auto underscore = name.find('_');
    const auto id = parse_integer(name.substr(0, underscore));
    if (underscore != std::string::npos && id && name.starts_with(padded(*id) + "_") &&
        entry.is_directory(unreadable))
      directories.emplace(*id, name);
  }
  return directories;
}

/// A marker file that JUBE leaves in the directory of a workpackage; none where it has not.
std::optional<std::string> marker(const fs::path& run_directory, const fs::path& file) {
  const UniqueFd fd = open_below(run_directory, file);
  return fd.valid() ? std::optional(std::string(strip(read_all(fd, file)))) : std::nullopt;
}

/// JUBE keeps the state in the directory alone.
void take_state(const fs::path& run_directory, JubeWorkpackage& workpackage) {
  Workpackage& row = workpackage.row;
  const fs::path directory = run_directory / row.directory;
  row.attempts = 1;
  if (const auto done = marker(run_directory, directory / "done")) {
    row.state = State::done;
    workpackage.ended_unix_s = parse_local_time(*done);
  } else if (const auto error = marker(run_directory, directory / "error")) {
    row.state = State::failed;
    row.reason = to_valid_utf8(one_line(*error));
  } else {
    row.state = State::waiting;  // it waits, or was interrupted
  }
}

JubeWorkpackage workpackage_of(const Node& node) {
  JubeWorkpackage workpackage{.row = {}, .environment = environment_of(node), .ended_unix_s = {}};
  Workpackage& row = workpackage.row;
  const Node& step = child(node, "step");
  row.id = number_in(node.get("id"), node);
  row.step = strip(step.text);
  row.iteration = static_cast<int>(number_in(step.get("iteration", "0"), step));
  row.progress.cycle = static_cast<int>(number_in(step.get("cycle", "0"), step));
  row.parents = numbers_in(node, "parents");
  std::ranges::sort(row.parents);
  row.parameters = own_parameters(node);
  row.expanded = true;
  const std::vector<long long> siblings = numbers_in(node, "iteration_siblings");
  row.combination = siblings.empty() ? row.id : std::min(std::ranges::min(siblings), row.id);
  return workpackage;
}

/// The workpackages of a run directory, ascending by id.
/// @param document of `workpackages.xml`
std::vector<JubeWorkpackage> jube_workpackages(const fs::path& run_directory,
                                               const Node& document) {
  std::vector<JubeWorkpackage> all;
  for (const Node* node : document.all("workpackage"))
    all.push_back(workpackage_of(*node));
  const auto id = [](const JubeWorkpackage& one) { return one.row.id; };
  std::ranges::stable_sort(all, {}, id);
  const auto directories = directories_in(run_directory);
  std::unordered_map<long long, const Workpackage*> known;
  // The first that is left of each combination. JUBE mixes the siblings of all steps that depend on
  // an iterated one.
  std::map<std::pair<std::string, long long>, long long> first_of;
  for (JubeWorkpackage& workpackage : all) {
    Workpackage& row = workpackage.row;
    for (const long long parent : row.parents) {
      const auto found = known.find(parent);
      if (found == known.end())
        refuse(fmt::format("workpackage {} has a parent {}, which does not come before it", row.id,
                           parent),
               document);
      inherit(found->second->parameters, row.parameters);
    }
    if (!known.emplace(row.id, &row).second)
      refuse(fmt::format("there are two workpackages {}", row.id), document);
    row.combination = first_of.try_emplace({row.step, row.combination}, row.id).first->second;
    const auto directory = directories.find(row.id);
    row.directory = directory == directories.end() ? fmt::format("{}_{}", padded(row.id), row.step)
                                                   : directory->second;
    if (directory != directories.end())
      take_state(run_directory, workpackage);
  }
  return all;
}

/// Reads `configuration.xml`, `workpackages.xml`, `analyse.xml`, `timestamps` and the files `done`
/// and `error` of the workpackages. Changes nothing.
/// @throws Error with the place if one of them is not what JUBE writes
JubeRun read_jube_run(const fs::path& run_directory) {
  // As it is: JUBE has applied the tags and taken in what the input file includes.
  const Node root = xml_of(run_directory, "configuration.xml");
  JubeRun run{
      .facts = facts_of(run_directory, root),
      .workpackages = jube_workpackages(run_directory, xml_of(run_directory, "workpackages.xml")),
      .findings = {}};
  if (fs::exists(run_directory / "analyse.xml")) {
    take_findings(xml_of(run_directory, "analyse.xml"), benchmark_in(root), run);
    run.analysed_since = is_recent(run_directory, run.facts["last_change"]);
  }
  return run;
}

void insert(Statements& statements, const JubeWorkpackage& workpackage) {
  const Workpackage& row = workpackage.row;
  insert(statements, row, workpackage.environment);
  if (row.attempts > 0)  // where and when it began, JUBE does not keep
    insert(statements, {.workpackage = row.id,
                        .number = 1,
                        .uuid = "jube-" + std::to_string(row.id),
                        .outcome = row.has_ended() ? std::string(name_of(row.state)) : "",
                        .ended_unix_s = workpackage.ended_unix_s,
                        .reason = row.reason});
}

}  // namespace

Workspace Workspace::of_jube(const std::filesystem::path& run_directory) {
  const JubeRun jube = read_jube_run(run_directory);
  Workspace workspace(std::make_unique<Database>(
      SQLite::Database(":memory:",
                       SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_NOMUTEX),
      /*ends_without_log=*/false));
  SQLite::Database& sqlite = workspace.database_->sqlite;
  translated(sqlite, [&] { sqlite.exec(schema); });
  workspace.at_once([&] {
    for (const auto& [name, value] : jube.facts)
      workspace.set_fact(name, value);
    for (const JubeWorkpackage& workpackage : jube.workpackages)
      insert(workspace.database_->statements, workpackage);
    for (const auto& [analyser, findings] : jube.findings) {
      workspace.begin_findings(analyser);
      workspace.add_findings(analyser, findings);
    }
    if (!jube.analysed_since)
      sqlite.exec("DELETE FROM analysis");
  });
  return workspace;
}

}  // namespace bench::workspace
