#include "jube_run.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/stat.h>

#include <bench/base/below.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/base/value.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::workspace {
namespace {

namespace fs = std::filesystem;
using document::Node;

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
    throw Error(Id::damaged_data, "there is no <benchmark>", "JUBE has not written this",
                root.place);
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
      throw Error(Id::damaged_data,
                  fmt::format("there is no workpackage '{}'", workpackage->get("id")),
                  "JUBE has not written this", workpackage->place);
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

}  // namespace

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

}  // namespace bench::workspace
