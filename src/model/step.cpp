#include "read.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/outcome.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/document/elements.hpp>
#include <bench/document/node.hpp>
#include <bench/energy/program/options.hpp>
#include <bench/energy/sources/methods.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

using document::Node;

namespace {

/// The file that logs what was executed: `true` is `do_log`.
std::string log_file(const Node& node) {
  const std::string word = attribute(node, "do_log_file");
  const std::string lower = to_lower(word);
  if (lower == "true")
    return "do_log";
  return lower == "false" || lower == "none" ? "" : word;
}

/// A shared command waits for all workpackages of its step, which share a directory and run one by
/// one.
void check_shared(const Step& step) {
  const auto shared = std::ranges::find(step.commands, true, &Command::shared);
  if (shared == step.commands.end())
    return;
  if (step.shared.empty())
    throw Error(Id::conflict,
                fmt::format("step '{}' has a shared command but no shared directory", step.name),
                "add `shared: NAME` to the step", shared->place);
  if (step.procs > 1)
    throw Error(
        Id::conflict,
        fmt::format("step '{}' has a shared command and `procs: {}`", step.name, step.procs),
        "remove `procs`, or move the command to another step", shared->place);
}

/// Whether `batch: true`, `batch: {nodes: 2}` and the like switch the thing on.
bool switched_on(const Node* node) {
  if (!node)
    return false;
  const std::string word = to_lower(strip(node->text));
  if (!word.empty() && word != "true" && word != "false")
    throw Error(
        Id::wrong_structure,
        fmt::format("{} must be true, false or a mapping, not '{}'", node->name, node->text), "",
        node->text_place);
  return word != "false";
}

Batch build_batch(const Node& node) {
  Batch batch;
  batch.nodes = attribute(node, "nodes");
  batch.tasks_per_node = attribute(node, "tasks_per_node");
  batch.threads_per_task = attribute(node, "threads_per_task");
  batch.gpus_per_node = attribute(node, "gpus_per_node");
  batch.time_limit = attribute(node, "time_limit");
  if (!batch.time_limit.empty() && batch.time_limit.find('$') == std::string::npos)
    parse_time_limit_s(batch.time_limit, place_of(node, "time_limit"));
  batch.job_template = attribute(node, "template");
  batch.array = node.flag("array");
  batch.pack = attribute(node, "pack");
  batch.kill_on_bad_exit = node.flag("kill_on_bad_exit");
  batch.same_nodes = node.flag("same_nodes");
  for (const document::AttributeKind& one : document::job_settings())
    if (const document::Attribute* given = node.find(one.name))
      batch.settings.push_back({one.name, std::string(strip(given->value)), given->place});
  for (const Node* option : node.all("options"))
    batch.options.push_back({"", std::string(strip(option->text)), option->text_place});
  batch.place = node.place;
  if (batch.same_nodes && batch.setting("nodelist"))
    throw Error(Id::no_effect,
                "`nodelist` names the nodes already, so that `same_nodes` has no effect",
                "remove one of them", place_of(node, "same_nodes"));
  return batch;
}

/// Faults of the machine, which say nothing about the workpackage.
const std::vector<Outcome> faults{Outcome::node_fail, Outcome::boot_fail, Outcome::preempted};

Outcome build_outcome(const std::string& word, const Node& node) {
  const auto known = retryable_outcomes();
  const auto outcome = outcome_of(word);
  if (outcome && std::ranges::find(known, word) != known.end())
    return *outcome;
  throw Error(Id::unknown_name, fmt::format("unknown outcome '{}'", word), suggestion(word, known),
              node.text_place);
}

Retry build_retry(const Node& node) {
  Retry retry;
  retry.place = node.place;
  const std::string text(strip(node.text));
  const auto number = parse_integer(text);
  if (!text.empty() && (!number || *number < 0 || *number > 1000))
    throw Error(Id::invalid_value,
                fmt::format("retry must be a number or a mapping, not '{}'", text), "",
                node.text_place);
  retry.times = text.empty() ? whole_number(node, "times", 0) : static_cast<int>(*number);
  for (const Node* on : node.all("on"))
    for (const std::string& word : split_names(on->text))
      retry.on.push_back(build_outcome(word, *on));
  if (retry.on.empty())
    retry.on = faults;
  const std::string factor = attribute(node, "timelimit_factor");
  const auto parsed = parse_number(factor);
  if (!parsed || !(*parsed >= 1) || !std::isfinite(*parsed))
    throw Error(Id::invalid_value,
                fmt::format("timelimit_factor must be a number of at least 1, not '{}'", factor),
                "", place_of(node, "timelimit_factor"));
  retry.time_limit_factor = *parsed;
  return retry;
}

/// What has no parameter in it; the rest is checked where jobs are prepared.
void check_with_meter(const Node& node, const char* key,
                      void (*check)(const std::string& text, const Place& place)) {
  const std::string text = attribute(node, key);
  if (!text.empty() && text.find('$') == std::string::npos)
    check(text, place_of(node, key));
}

Energy build_energy(const Node& node) {
  check_with_meter(node, "methods", energy::check_methods);
  check_with_meter(node, "interval", energy::check_interval);
  check_with_meter(node, "baseline", energy::check_baseline);
  check_with_meter(node, "thermal", energy::check_thermal);
  Energy energy;
  energy.methods = attribute(node, "methods");
  energy.interval = attribute(node, "interval");
  energy.baseline = attribute(node, "baseline");
  energy.thermal = attribute(node, "thermal");
  energy.per_node = node.flag("per_node");
  energy.place = node.place;
  return energy;
}

/// The meter makes the settings, on every node.
PowerSettings build_power_settings(const Node& node, const Step& step) {
  check_with_meter(node, "gpu_power_limit", energy::check_gpu_power_limit);
  check_with_meter(node, "gpu_clock", energy::check_gpu_clock);
  check_with_meter(node, "cpu_governor", energy::check_cpu_governor);
  for (const char* key : {"gpu_power_limit", "gpu_clock", "cpu_governor"}) {
    if (!node.find(key))
      continue;
    if (!step.energy)
      throw Error(Id::conflict,
                  fmt::format("step '{}' has a {} but does not measure energy", step.name, key),
                  "add `energy: true`: the meter sets and restores it", place_of(node, key));
    if (!step.energy->per_node)
      throw Error(Id::conflict,
                  fmt::format("step '{}' has a {} and several meters on a node", step.name, key),
                  "remove `per_node: false`: one meter on each node sets and restores it",
                  place_of(node, key));
  }
  return {.gpu_power_limit = attribute(node, "gpu_power_limit"),
          .gpu_clock = attribute(node, "gpu_clock"),
          .cpu_governor = attribute(node, "cpu_governor")};
}

/// A length of time that has no parameter in it is checked before anything runs.
void check_duration(const Node& node, const char* key) {
  const document::Attribute* found = node.find(key);
  if (!found || found->value.find('$') != std::string::npos)
    return;
  parse_duration_s(found->value, found->place);
}

}  // namespace

double parse_time_limit_s(const std::string& text, const Place& place) {
  const std::string number(strip(text));
  if (parse_number(number))
    throw Error(
        Id::invalid_value, fmt::format("time_limit '{}' has no unit", number),
        fmt::format("write {0}m for minutes, as Slurm reads it, or {0}s for seconds", number),
        place);
  return parse_duration_s(text, place);
}

Step build_step(const Node& node) {
  Step step;
  step.name = file_name(node);
  step.depend = split_names(attribute(node, "depend"));
  step.use = used_names(node);
  for (const Node* child : node.all("do"))
    step.commands.push_back(build_command(*child));
  read_iterations(node, step);
  step.cycles = whole_number(node, "cycles", 1);
  if (node.find("procs"))
    step.procs = whole_number(node, "procs", 1);
  step.max_async = attribute(node, "max_async");
  step.active = attribute(node, "active");
  step.where = attribute(node, "where");
  step.timeout = attribute(node, "timeout");
  check_duration(node, "timeout");
  step.work_dir = attribute(node, "work_dir");
  step.suffix = attribute(node, "suffix");
  step.shared = attribute(node, "shared");
  step.do_log_file = log_file(node);
  step.exported = node.flag("export");
  check_shared(step);
  if (const Node* batch = node.first("batch"); switched_on(batch))
    step.batch = build_batch(*batch);
  if (const Node* energy = node.first("energy"); switched_on(energy))
    step.energy = build_energy(*energy);
  step.power = build_power_settings(node, step);
  if (const Node* retry = node.first("retry"))
    step.retry = build_retry(*retry);
  step.order = one_of<Order>(
      node, "order",
      {{"given", Order::given}, {"interleaved", Order::interleaved}, {"random", Order::random}});
  if (const Node* prune = only_one(node, "prune"))
    step.prune = build_prune(*prune);
  if (const Node* search = only_one(node, "search"))
    step.search = build_search(*search);
  if (step.energy && !step.batch)
    throw Error(Id::conflict,
                fmt::format("step '{}' measures energy but is not a batch step", step.name),
                "add `batch: true`; on platform local its commands run here, under the meter",
                step.energy->place);
  step.place = node.place;
  return step;
}

}  // namespace bench::model
