#include <regex>
#include <set>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/scheduler/batch_system.hpp>
#include <bench/scheduler/step_jobs.hpp>

namespace bench::scheduler {

using execute::JobReport;
using workspace::State;
using workspace::Workpackage;

std::string submitted_job(const setup::Run& run, const Workpackage& workpackage) {
  const auto file = run.directory.path / workpackage.directory / "work" / "stdout";
  std::error_code absent;
  if (!std::filesystem::is_regular_file(file, absent))
    return "";
  static const std::regex said(R"(Submitted batch job (\d+))");
  const std::string text = read_file(file);
  std::string id;
  for (std::sregex_iterator found(text.begin(), text.end(), said), end; found != end; ++found)
    id = (*found)[1].str();
  return id;
}

StepJobs::StepJobs(const setup::Run& run) : run_(run), system_(batch_system_of(run.platform)) {}

std::vector<std::pair<long long, std::string>> StepJobs::ended(const workflow::Graph& graph) {
  const bool due = Clock::now() >= next_question_;
  std::map<std::string, long long> jobs;
  std::set<long long> waiting;
  for (const Workpackage& workpackage : graph.all())
    if (workpackage.state == State::pending) {
      waiting.insert(workpackage.id);
      if (!due)
        continue;
      if (const std::string id = submitted_job(run_, workpackage); !id.empty())
        jobs[id] = workpackage.id;
    }
  std::erase_if(over_, [&](const auto& one) { return !waiting.contains(one.first); });
  if (!jobs.empty())
    ask(jobs);
  std::vector<std::pair<long long, std::string>> ended;
  const std::chrono::duration<double> grace(run_.platform.polling.sentinel_grace_s);
  for (const auto& [id, over] : over_)
    if (Clock::now() - over.since >= grace)
      ended.emplace_back(id, over.text);
  for (const auto& [id, text] : ended)
    over_.erase(id);
  return ended;
}

void StepJobs::ask(const std::map<std::string, long long>& jobs) {
  const std::chrono::duration<double> interval(run_.platform.polling.interval_s);
  next_question_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(interval);
  std::set<std::string> unknown;
  std::vector<std::string> ids;
  for (const auto& [id, workpackage] : jobs)
    ids.push_back(id);
  for (const bool books : {false, true}) {
    const execute::QueryResult answer = books ? system_->look_up(ids) : system_->ask(ids);
    if (!answer.trouble.empty())
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
            job->second, Over{fmt::format("{} job {}: {}", system_->name(), report.id, report.word),
                              Clock::now()});
      else
        over_.erase(job->second);
    }
    ids.assign(unknown.begin(), unknown.end());
    if (ids.empty())
      return;
  }
  for (const std::string& id : unknown)
    over_.try_emplace(
        jobs.at(id),
        Over{fmt::format("{} no longer knows job {}", system_->name(), id), Clock::now()});
}

}  // namespace bench::scheduler
