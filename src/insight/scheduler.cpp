#include "check_functions.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/insight/ask.hpp>
#include <bench/insight/checks.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/partition.hpp>
#include <bench/machine/slow_answers.hpp>
#include <bench/machine/systems.hpp>

namespace bench::doctor {
namespace {

/// The submit command, which identifies a batch system.
struct Submitter {
  const char* program;
  const char* name;
  const char* kind;  ///< Its name in platform files.
  std::vector<std::string> version;
  /// Lists jobs or queues, which no server that is down does. Empty: the check of partitions asks.
  std::vector<std::string> question;
};

const std::vector<Submitter>& submitters() {
  static const std::vector<Submitter> all{
      {"sbatch", "Slurm", "slurm", {"sbatch", "--version"}, {}},
      {"flux", "Flux", "flux", {"flux", "--version"}, {"flux", "jobs"}},
      {"qsub", "PBS or Grid Engine", "pbs", {}, {"qstat"}},
      {"bsub", "LSF", "lsf", {}, {"bqueues"}},
      {"pjsub", "PJM", "pjm", {}, {"pjstat"}}};
  return all;
}

const Submitter* submitter() {
  for (const Submitter& one : submitters())
    if (!find_program(one.program).empty())
      return &one;
  return nullptr;
}

/// The batch system if bench supports it natively; null if there is none, or if it needs a platform
/// file with `commands`.
std::unique_ptr<batch::BatchSystem> batch_system() {
  batch::limit_answers(patience_s);
  const Submitter* found = submitter();
  const batch::SystemKind* kind = found ? batch::find_system(found->kind) : nullptr;
  return kind && !kind->needs_commands ? kind->make({}) : nullptr;
}

std::string text_of(const batch::Partition& partition) {
  std::vector<std::string> facts;
  if (partition.is_default)
    facts.emplace_back("default");
  facts.push_back(
      fmt::format("{} node{}", partition.max_nodes, partition.max_nodes == 1 ? "" : "s"));
  if (const int gpus = partition.most_gpus_per_node.value_or(0); gpus > 0)
    facts.push_back(fmt::format("{} GPUs per node", gpus));
  if (partition.max_time_s)
    facts.push_back(human_duration(*partition.max_time_s));
  if (!partition.takes_jobs)
    facts.emplace_back("takes no jobs");
  return fmt::format("{} ({})", partition.name, join(facts, ", "));
}

}  // namespace

Findings check_scheduler(const System&) {
  const Submitter* found = submitter();
  if (!found)
    return {{"", Health::ok, "none: steps run on this machine", ""}};
  std::string text = fmt::format("{}: `{}` is on PATH", found->name, found->program);
  for (const auto& question : {found->version, found->question}) {
    if (question.empty())
      continue;
    const Answer answer = ask(question);
    if (!answer.found)
      return {{"", Health::warning, fmt::format("{}, `{}` is not", text, question.front()),
               "bench learns from its sentinel files how jobs end, and from the batch system "
               "whether they wait"}};
    if (!answer.ok)
      return {{"", Health::error, fmt::format("{}: {}", question.front(), answer.failure),
               "jobs cannot be submitted: ask the administrator"}};
    if (question == found->version)
      text = split(answer.output, "\n").front();
  }
  return {{"", Health::ok, text, ""}};
}

Findings check_partitions(const System&) {
  const auto system = batch_system();
  if (!system)
    return {};
  const batch::Partitions partitions = system->ask_partitions();
  if (!partitions.failure.empty())
    return {{"", Health::error, partitions.failure,
             "jobs wait while the batch system does not answer; `bench continue` collects them "
             "later"}};
  if (!partitions.known)
    return {};
  std::vector<std::string> texts;
  constexpr std::size_t shown = 8;
  for (const batch::Partition& partition : partitions.all)
    if (texts.size() < shown)
      texts.push_back(text_of(partition));
  if (partitions.all.size() > shown)
    texts.push_back(fmt::format("and {} more", partitions.all.size() - shown));
  if (std::ranges::none_of(partitions.all, &batch::Partition::takes_jobs))
    return {{"", Health::error, "no partition takes jobs: " + join(texts, ", "),
             "wait, or ask the administrator"}};
  return {{"", Health::ok, join(texts, ", "), ""}};
}

Findings check_accounting(const System&) {
  const auto system = batch_system();
  if (find_program("sbatch").empty() || !system->ask_partitions().failure.empty())
    return {};  // the check of partitions says why
  const Answer answer = ask({"sacct", "-n", "-X", "-S", "now", "-o", "JobID"});
  if (!answer.ok)
    return {{"", Health::warning,
             "no accounting: " + (answer.found ? answer.failure : "sacct is not installed"),
             "no action needed: without accounting, bench learns from its sentinel file how a job "
             "ended"}};
  return {{"", Health::ok, "sacct answers", ""}};
}

Findings check_accounts(const System&) {
  const auto system = batch_system();
  if (!system || !system->ask_partitions().failure.empty())
    return {};
  std::vector<std::string> accounts;
  for (const batch::Association& one : system->ask_associations())
    accounts.push_back(one.qos.empty()
                           ? one.account
                           : fmt::format("{} (QOS {})", one.account, join(one.qos, ", ")));
  if (accounts.empty())
    return {{"", Health::ok, "the batch system lists no account for you", ""}};
  return {{"", Health::ok, join(accounts, ", "), ""}};
}

Findings check_limits(const System&) {
  const auto system = batch_system();
  if (!system || !system->ask_partitions().failure.empty())
    return {};  // the check of partitions says why
  const int size = system->max_array_size();
  return {{"", Health::ok,
           size > 1 ? fmt::format("job arrays of up to {} tasks", size) : "no job arrays", ""}};
}

}  // namespace bench::doctor
