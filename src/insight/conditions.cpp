#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/hash.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/insight/conditions.hpp>
#include <bench/machine/systems.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>

namespace bench::insight {
namespace {

using document::Node;

enum class Role {
  record,     ///< Only `diff` shows it.
  condition,  ///< May change the numbers: `compare` says it, too.
  decisive,   ///< Part of the fingerprint: no run is checked against one with another value.
};

struct RecordedFact {
  const char* name;
  Role role;
  const char* separator = "";  ///< Of the items of a list.
};

/// All facts that are compared, in the order in which they are shown.
///
/// The version of the program is no part of the fingerprint: it is what a baseline checks. Neither
/// are the load at the start, which says little about the time after it, and the numbers of the
/// CPUs, which differ from job to job.
constexpr std::array recorded_facts{
    RecordedFact{"benchmark", Role::decisive},
    RecordedFact{"input", Role::decisive},
    RecordedFact{"comment", Role::record},
    RecordedFact{"tags", Role::record, ","},
    RecordedFact{"parallel", Role::decisive},
    RecordedFact{"platform", Role::decisive},
    RecordedFact{"partition", Role::decisive},
    RecordedFact{"account", Role::record},
    RecordedFact{"qos", Role::record},
    RecordedFact{"reservation", Role::record},
    RecordedFact{"launcher", Role::decisive},
    RecordedFact{"power_source", Role::decisive},
    RecordedFact{"input_file", Role::record},
    RecordedFact{"input_sha256", Role::record},
    RecordedFact{"git_revision", Role::condition},
    RecordedFact{"host", Role::decisive},
    RecordedFact{"load", Role::condition},
    RecordedFact{"system", Role::decisive},
    RecordedFact{"cpu", Role::decisive},
    RecordedFact{"topology", Role::decisive},
    RecordedFact{"clocks", Role::decisive},
    RecordedFact{"firmware", Role::decisive},
    RecordedFact{"cpus_usable", Role::decisive},
    RecordedFact{"cpus_allowed", Role::condition},
    RecordedFact{"memory_bytes", Role::condition},
    RecordedFact{"gpus", Role::decisive},
    RecordedFact{"gpu_driver", Role::decisive},
    RecordedFact{"container", Role::condition},
    RecordedFact{"modules", Role::decisive, ":"},
    RecordedFact{"environment", Role::decisive, "\n"},
    RecordedFact{"bench_version", Role::condition},
    RecordedFact{"compiler", Role::condition, "\n"},
    RecordedFact{"libraries", Role::condition, "\n"},
    RecordedFact{"container_digest", Role::condition, "\n"},
};

/// Elements that change nothing of what runs.
bool is_evaluation(const std::string& element) {
  constexpr std::array<std::string_view, 4> names{"comment", "patternset", "analyser", "result"};
  return std::ranges::find(names, element) != names.end();
}

/// Writes an element without its places in the file. No text can be mistaken for the structure.
void write(const Node& node, std::string& text) {
  const auto add = [&](const std::string& piece) {
    text += std::to_string(piece.size()) + ":" + piece;
  };
  add(node.name);
  add(node.text);
  for (const document::Attribute& attribute : node.attributes)
    if (attribute.name != "outpath" && attribute.name != "comment") {
      add(attribute.name);
      add(attribute.value);
    }
  text += "{";
  for (const Node& child : node.children)
    if (!is_evaluation(child.name))
      write(child, text);
  text += "}";
}

bool is_of_benchmark(const Node& child, const space::RunMetadata& metadata) {
  return child.name != "benchmark" || child.get("name") == metadata.benchmark;
}

/// The sets that all benchmarks share, and the benchmark of this name.
std::string input_of(const Node& root, const space::RunMetadata& metadata) {
  constexpr std::size_t digits = 12;
  std::string text;
  for (const Node& child : root.children)
    if (is_of_benchmark(child, metadata) && !is_evaluation(child.name))
      write(child, text);
  return sha256(text).substr(0, digits);
}

/// A step says itself how many of its workpackages run at a time.
bool has_limits(const Node& node) {
  return (node.name == "step" && !(node.get("procs") + node.get("max_async")).empty()) ||
         std::ranges::any_of(node.children, has_limits);
}

/// How many workpackages ran at a time on this machine.
std::string parallel_of(const Node& root, const space::RunMetadata& metadata) {
  if (!metadata.parallel)
    return std::ranges::any_of(root.children,
                               [&](const Node& child) {
                                 return is_of_benchmark(child, metadata) && has_limits(child);
                               })
               ? "set by the steps"
               : "1";
  if (*metadata.parallel > 0)
    return std::to_string(*metadata.parallel);
  const auto cpus = metadata.provenance.find("cpus_usable");
  return cpus == metadata.provenance.end() ? "one per CPU" : cpus->second;
}

/// Lines of `environment` without the variables of a batch system's job.
std::string without_job(const std::string& environment) {
  std::vector<std::string> lines = split(environment, "\n");
  for (const machine::SystemKind* kind : machine::system_kinds())
    if (kind->job_prefix)
      std::erase_if(lines,
                    [&](const std::string& line) { return line.starts_with(kind->job_prefix); });
  return join(lines, "\n");
}

/// The facts of a run by name, `input` and `parallel` as they are compared. What describes a login
/// node in place of the machine is left out.
std::map<std::string, std::string> known_facts(const space::RunMetadata& metadata) {
  auto known = space::facts_of(metadata);
  const Node root = metadata.document.empty() ? Node() : document::from_json(metadata.document);
  known["input"] = input_of(root, metadata);
  known["parallel"] = parallel_of(root, metadata);
  return known;
}

std::map<std::string, std::string> conditions_of(const space::RunMetadata& metadata) {
  auto known = known_facts(metadata);
  if (metadata.platform != "local")
    for (const char* of_login_node : {"host", "load", "cpus_allowed"})
      known.erase(of_login_node);
  if (const auto environment = known.find("environment"); environment != known.end())
    environment->second = without_job(environment->second);
  return known;
}

std::string value_in(const std::map<std::string, std::string>& known, const std::string& name) {
  const auto fact = known.find(name);
  return fact == known.end() ? std::string() : fact->second;
}

/// The items of a list that another lacks, a line each.
std::string items_beyond(const std::string& list, const std::string& other, const char* separator) {
  const auto known = split_names(other, separator);
  auto items = split_names(list, separator);
  std::erase_if(items, [&](const std::string& item) {
    return std::ranges::find(known, item) != known.end();
  });
  return join(items, "\n");
}

/// Averages of a minute: some more or less says nothing.
bool is_same_load(const std::string& a, const std::string& b) {
  constexpr double most_busy_cpus = 2;
  const auto load_a = parse_number(a);
  const auto load_b = parse_number(b);
  return !load_a || !load_b || std::fabs(*load_a - *load_b) <= most_busy_cpus;
}

std::optional<TextDifference> difference_in(const RecordedFact& fact, const std::string& a,
                                            const std::string& b) {
  if (a == b || (std::string_view(fact.name) == "load" && is_same_load(a, b)))
    return std::nullopt;
  if (*fact.separator == '\0')
    return TextDifference{.step = "", .name = fact.name, .a = a, .b = b};
  TextDifference items{.step = "",
                       .name = fact.name,
                       .a = items_beyond(a, b, fact.separator),
                       .b = items_beyond(b, a, fact.separator)};
  return items.a.empty() && items.b.empty() ? std::nullopt : std::optional(items);
}

/// The value of each run of a group, each once; the highest load.
std::string values_of(const std::vector<std::map<std::string, std::string>>& runs,
                      const std::string& name) {
  std::vector<std::string> values;
  for (const auto& known : runs)
    if (std::string value = value_in(known, name); std::ranges::find(values, value) == values.end())
      values.push_back(std::move(value));
  if (name == "load")
    return std::ranges::max(
        values, {}, [](const std::string& value) { return parse_number(value).value_or(-1); });
  std::ranges::sort(values);
  return join(values, "; ");
}

}  // namespace

const std::vector<std::string>& fingerprint_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> decisive;
    for (const RecordedFact& fact : recorded_facts)
      if (fact.role == Role::decisive)
        decisive.emplace_back(fact.name);
    return decisive;
  }();
  return names;
}

Fingerprint fingerprint_of(const space::RunMetadata& metadata) {
  const auto known = conditions_of(metadata);
  Fingerprint fingerprint;
  for (const std::string& name : fingerprint_names())
    if (std::string value = value_in(known, name); !value.empty())
      fingerprint.emplace(name, std::move(value));
  return fingerprint;
}

std::vector<TextDifference> differences_of(const Fingerprint& a, const Fingerprint& b,
                                           const std::set<std::string>& across) {
  std::vector<TextDifference> differences;
  for (const RecordedFact& fact : recorded_facts)
    if (!across.contains(fact.name))
      if (auto difference = difference_in(fact, value_in(a, fact.name), value_in(b, fact.name)))
        differences.push_back(std::move(*difference));
  return differences;
}

std::string short_name_of(const Fingerprint& fingerprint) {
  constexpr std::size_t digits = 8;
  std::string text;
  for (const auto& [name, value] : fingerprint)
    text += name + "=" + value + '\0';
  return sha256(text).substr(0, digits);
}

std::vector<TextDifference> fact_differences(const space::RunMetadata& a,
                                             const space::RunMetadata& b) {
  const auto known_a = known_facts(a);
  const auto known_b = known_facts(b);
  std::vector<TextDifference> differences;
  for (const RecordedFact& fact : recorded_facts)
    if (std::string_view(fact.name) != "input")  // `input_sha256` tells it
      if (auto difference =
              difference_in(fact, value_in(known_a, fact.name), value_in(known_b, fact.name)))
        differences.push_back(std::move(*difference));
  return differences;
}

std::vector<TextDifference> condition_differences(std::span<const Side> a,
                                                  std::span<const Side> b) {
  const auto of_each = [](std::span<const Side> side) {
    std::vector<std::map<std::string, std::string>> runs;
    for (const Side& one : side)
      runs.push_back(conditions_of(one.run.metadata));
    return runs;
  };
  const auto runs_a = of_each(a);
  const auto runs_b = of_each(b);
  std::vector<TextDifference> differences;
  for (const RecordedFact& fact : recorded_facts)
    if (fact.role != Role::record)
      if (auto difference =
              difference_in(fact, values_of(runs_a, fact.name), values_of(runs_b, fact.name)))
        differences.push_back(std::move(*difference));
  return differences;
}

}  // namespace bench::insight
