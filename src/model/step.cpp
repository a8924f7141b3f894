#include "step.hpp"

#include "read.hpp"

#include <fmt/core.h>

#include <bench/base/time.hpp>

namespace bench::model {

using document::Node;

namespace {

Command build_command(const Node& node) {
  Command command;
  command.text = strip(node.text);
  command.active = attribute(node, "active", "true");
  command.stdout_file = attribute(node, "stdout", "stdout");
  command.stderr_file = attribute(node, "stderr", "stderr");
  command.place = node.text_place;
  return command;
}

/// Whether `batch: true`, `batch: {nodes: 2}` and the like switch the thing on.
bool switched_on(const Node* node) {
  if (!node)
    return false;
  const std::string word = to_lower(strip(node->text));
  if (!word.empty() && word != "true" && word != "false")
    throw Error(fmt::format("{} is true, false or a mapping, not '{}'", node->name, node->text), "",
                node->text_place);
  return word != "false";
}

Batch build_batch(const Node& node) {
  Batch batch;
  batch.nodes = attribute(node, "nodes", "1");
  batch.tasks_per_node = attribute(node, "tasks_per_node", "1");
  batch.threads_per_task = attribute(node, "threads_per_task");
  batch.gpus_per_node = attribute(node, "gpus_per_node");
  batch.time_limit = attribute(node, "time_limit");
  batch.job_template = attribute(node, "template");
  batch.place = node.place;
  return batch;
}

Energy build_energy(const Node& node) {
  Energy energy;
  energy.methods = attribute(node, "methods", "auto");
  energy.interval = attribute(node, "interval", "100ms");
  energy.place = node.place;
  return energy;
}

/// A length of time that has no parameter in it is checked before anything runs.
void check_duration(const Node& node, const char* key) {
  const document::Attribute* found = node.find(key);
  if (!found || found->value.find('$') != std::string::npos)
    return;
  parse_duration_s(found->value, found->place);
}

}  // namespace

Step build_step(const Node& node) {
  Step step;
  step.name = required_name(node);
  step.depend = split_names(attribute(node, "depend"));
  step.use = used_names(node);
  for (const Node* child : node.all("do"))
    step.commands.push_back(build_command(*child));
  step.iterations = whole_number(node, "iterations", 1, 1);
  step.procs = whole_number(node, "procs", 0, 1);
  step.max_async = attribute(node, "max_async");
  step.active = attribute(node, "active", "true");
  step.where = attribute(node, "where");
  step.timeout = attribute(node, "timeout");
  check_duration(node, "timeout");
  if (const Node* batch = node.first("batch"); switched_on(batch))
    step.batch = build_batch(*batch);
  if (const Node* energy = node.first("energy"); switched_on(energy))
    step.energy = build_energy(*energy);
  if (step.energy && !step.batch)
    throw Error(fmt::format("step '{}' measures energy but is no batch step", step.name),
                "add `batch: true`: on platform local its commands run here, under the meter",
                step.energy->place);
  step.place = node.place;
  return step;
}

}  // namespace bench::model
