#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/below.hpp>
#include <bench/base/files.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/batch/batch_system.hpp>
#include <bench/batch/systems.hpp>
#include <bench/job/output_file.hpp>
#include <bench/job/render_context.hpp>
#include <bench/job/segment.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/scheduler/step_jobs.hpp>
#include <bench/setup/run.hpp>
#include <bench/workflow/graph.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::scheduler {

using batch::JobReport;
using workspace::Workpackage;

std::string submitted_job(const job::RenderContext& context) {
  const std::vector<model::Command>& commands = context.step.commands;
  const auto waits_at = static_cast<std::size_t>(context.workpackage.progress.command);
  if (waits_at >= commands.size() || commands[waits_at].shared)
    return "";
  // One before it may have submitted the job, but not one that waited for a file itself.
  for (std::size_t k = waits_at + 1; k-- > 0;) {
    const model::Command& command = commands[k];
    if (k != waits_at && (command.shared || job::watches(command)))
      break;
    const auto file = context.work() / context.file_name(command.stdout_file);
    const UniqueFd fd = job::open_output(context.run, file);
    const auto ids =
        fd.valid() ? batch::submitted_ids(read_all(fd, file)) : std::vector<std::string>{};
    if (ids.empty())
      continue;
    // In a directory elsewhere, others may have written to the same file.
    return ids.size() == 1 || is_written_below(context.directory(), file) ? ids.back() : "";
  }
  return "";
}

std::vector<std::pair<long long, std::string>> StepJobs::ended(const workflow::Graph& graph,
                                                               const std::set<long long>& pending) {
  const bool due = now_() >= next_question_;
  std::map<std::string, Waiting> jobs;
  std::set<std::string> doubtful;
  std::map<long long, workspace::Progress> waiting;
  for (const long long pending_id : pending) {
    const Workpackage& workpackage = graph.at(pending_id);
    const model::Step& step = *run_.benchmark.step(workpackage.step);
    if (!job::waits_at_barrier(step, workpackage)) {
      waiting.emplace(workpackage.id, workpackage.progress);
      if (!due)
        continue;
      const std::string id =
          submitted_job({.run = run_,
                         .step = step,
                         .workpackage = workpackage,
                         .variables = graph.variables_of(workpackage, workpackage.progress.cycle),
                         .evaluator = evaluator_});
      if (!id.empty() &&
          !jobs.try_emplace(id, Waiting{workpackage.id, workpackage.progress}).second)
        doubtful.insert(id);
    }
  }
  for (const std::string& id : doubtful)
    jobs.erase(id);
  std::erase_if(over_, [&](const auto& one) {
    const auto found = waiting.find(one.first);
    return found == waiting.end() || found->second != one.second.waits_at;
  });
  if (!jobs.empty())
    ask(jobs);
  std::vector<std::pair<long long, std::string>> ended;
  const std::chrono::duration<double> grace(run_.platform.polling.sentinel_grace_s);
  for (const auto& [id, over] : over_)
    if (now_() - over.since >= grace)
      ended.emplace_back(id, over.text);
  for (const auto& [id, text] : ended)
    over_.erase(id);
  return ended;
}

void StepJobs::ask(const std::map<std::string, Waiting>& jobs) {
  const std::chrono::duration<double> interval(run_.platform.polling.interval_s);
  next_question_ = now_() + std::chrono::duration_cast<Clock::duration>(interval);
  std::set<std::string> unknown;
  std::vector<std::string> ids;
  for (const auto& [id, waiting] : jobs)
    ids.push_back(id);
  for (const bool accounting : {false, true}) {
    const batch::QueryResult answer =
        accounting ? system_->query_accounting(ids) : system_->ask(ids);
    if (!answer.failure.empty())
      return;
    unknown.clear();
    unknown.insert(ids.begin(), ids.end());
    for (const JobReport& report : answer.jobs) {
      unknown.erase(report.id);
      const auto job = jobs.find(report.id);
      if (job == jobs.end())
        continue;
      if (report.state == JobReport::State::ended)
        over_.try_emplace(
            job->second.workpackage,
            Over{fmt::format("{} job {}: {}", system_->name(), report.id, report.word), now_(),
                 job->second.at});
      else
        over_.erase(job->second.workpackage);
    }
    ids.assign(unknown.begin(), unknown.end());
    if (ids.empty())
      return;
  }
  for (const std::string& id : unknown)
    over_.try_emplace(jobs.at(id).workpackage,
                      Over{fmt::format("{} no longer knows job {}", system_->name(), id), now_(),
                           jobs.at(id).at});
}

}  // namespace bench::scheduler
