#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/base/outage.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/systems.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/step_jobs.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {

using machine::JobReport;
using workspace::Workpackage;

namespace {

/// The id that `sbatch` has printed, of a report on the job, on a task of it (`101_2`, `101_[3-9]`)
/// or on a part (`101+1`).
std::string printed_id(const std::string& id) {
  return id.substr(0, id.find_first_of("_+"));
}

}  // namespace

std::vector<std::string> submitted_jobs(const space::RenderContext& context) {
  const std::vector<model::Command>& commands = context.step.commands;
  const auto waits_at = static_cast<std::size_t>(context.workpackage.progress.command);
  if (waits_at >= commands.size() || commands[waits_at].shared)
    return {};
  // One before it may have submitted the job, but not one that waited for a file itself.
  for (std::size_t k = waits_at + 1; k-- > 0;) {
    const model::Command& command = commands[k];
    if (k != waits_at && (command.shared || space::watches(command)))
      break;
    const auto file = context.work() / context.file_name(command.stdout_file);
    const UniqueFd fd = space::open_output(context.run, file);
    if (!fd.valid())
      continue;
    std::vector<std::string> ids = machine::submitted_ids(read_all(fd, file));
    if (ids.empty())
      continue;
    std::ranges::sort(ids);
    const auto repeated = std::ranges::unique(ids);
    ids.erase(repeated.begin(), repeated.end());
    // In a directory elsewhere, others may have written to the same file.
    if (ids.size() > 1 && !is_written_below(context.directory(), file))
      return {};
    return ids;
  }
  return {};
}

std::vector<std::pair<long long, std::string>> StepJobs::ended(const space::Graph& graph,
                                                               const std::set<long long>& pending) {
  const bool due = now_() >= next_question_;
  std::map<long long, Waiting> waiting;
  std::map<std::string, int> owners;  ///< The number of workpackages that printed the id.
  for (const long long id : pending) {
    const Workpackage& workpackage = graph.at(id);
    const model::Step& step = *run_.benchmark.step(workpackage.step);
    if (space::waits_at_barrier(step, workpackage))
      continue;
    Waiting& one = waiting[id];
    one.at = workpackage.progress;
    if (due)
      one.jobs =
          submitted_jobs({.run = run_,
                          .step = step,
                          .workpackage = workpackage,
                          .variables = graph.variables_of(workpackage, workpackage.progress.cycle),
                          .evaluator = evaluator_});
    for (const std::string& job : one.jobs)
      ++owners[job];
  }
  std::erase_if(over_, [&](const auto& one) {
    const auto found = waiting.find(one.first);
    return found == waiting.end() || found->second.at != one.second.waits_at;
  });
  std::erase_if(waiting, [&](const auto& one) {
    const std::vector<std::string>& jobs = one.second.jobs;
    return jobs.empty() ||
           std::ranges::any_of(jobs, [&](const std::string& job) { return owners[job] > 1; });
  });
  if (!waiting.empty())
    ask(waiting);
  std::vector<std::pair<long long, std::string>> ended;
  const std::chrono::duration<double> grace(
      std::max(run_.platform.polling.sentinel_grace_s, outage_patience_s()));
  for (const auto& [id, over] : over_)
    if (now_() - over.since >= grace)
      ended.emplace_back(id, over.text);
  for (const auto& [id, text] : ended)
    over_.erase(id);
  return ended;
}

void StepJobs::ask(const std::map<long long, Waiting>& waiting) {
  const std::chrono::duration<double> interval(run_.platform.polling.interval_s);
  next_question_ = now_() + std::chrono::duration_cast<Clock::duration>(interval);
  std::set<std::string> unknown;
  for (const auto& [workpackage, one] : waiting)
    unknown.insert(one.jobs.begin(), one.jobs.end());
  std::set<std::string> live;
  std::map<std::string, std::string> ends;  ///< By id: the end of a job, for a message.
  for (const bool accounting : {false, true}) {
    if (unknown.empty())
      break;
    const std::vector<std::string> ids(unknown.begin(), unknown.end());
    const machine::QueryResult answer =
        accounting ? system_->query_accounting(ids) : system_->ask(ids);
    if (!answer.failure.empty())
      return;
    for (const JobReport& report : answer.jobs) {
      const std::string id = printed_id(report.id);
      unknown.erase(id);
      if (report.state != JobReport::State::ended)
        live.insert(id);
      else if (std::string& end = ends[id]; end.empty() || report.outcome != Outcome::done)
        end = fmt::format("{} job {}: {}", system_->name(), report.id, report.word);
    }
  }
  for (const std::string& id : unknown)
    ends[id] = fmt::format("{} no longer knows job {}", system_->name(), id);
  for (const auto& [workpackage, one] : waiting) {
    if (std::ranges::any_of(one.jobs, [&](const auto& job) { return live.contains(job); })) {
      over_.erase(workpackage);
      continue;
    }
    std::vector<std::string> texts;
    for (const std::string& job : one.jobs)
      texts.push_back(ends[job]);
    over_.try_emplace(workpackage, Over{join(texts, ", "), now_(), one.at});
  }
}

}  // namespace bench::run
