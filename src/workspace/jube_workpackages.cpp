#include "jube_run.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/below.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/document/node.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::workspace {
namespace {

namespace fs = std::filesystem;
using document::Node;

[[noreturn]] void refuse(const std::string& what, const Node& node) {
  throw Error(Id::damaged_data, what, "JUBE has not written this", node.place);
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

}  // namespace

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

}  // namespace bench::workspace
