#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/insight/jobs.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/job_monitor.hpp>
#include <bench/machine/platform.hpp>
#include <bench/machine/systems.hpp>
#include <bench/space/job_script.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::insight {
namespace {

using machine::JobReport;

std::string report_text(const JobReport& report) {
  std::string text = report.word;
  if (!report.reason.empty())
    text += fmt::format(" ({})", report.reason);
  if (!report.host.empty())
    text += " on " + report.host;
  if (report.state == JobReport::State::blocked)
    text += "; it will not start without intervention";
  return text;
}

/// Why the batch system of a run cannot be asked; empty: it can.
std::string why_not_asked(const space::Run& run) {
  const std::string name = space::platform_source(run);
  if (!machine::is_platform_file(name) &&
      !std::ranges::binary_search(machine::platform_names(), name))
    return fmt::format("the batch system was not asked: unknown platform {}", name);
  return "";
}

space::Run with_platform(space::Run run) {
  run.platform = space::platform_of(run);
  return run;
}

/// @param run with its platform, whose batch system may keep no comments: then names tell
machine::BatchJob job_of(const space::Run& run, const std::string& step,
                         const workspace::Attempt& attempt) {
  return {.job = {},
          .submission = attempt.submission,
          .name = space::job_name(run, step, attempt),
          .id = attempt.job_id,
          .task = attempt.task,
          .messages = {}};
}

/// @param find the job among those that were told of
template <class Find>
JobNews news_of(machine::BatchSystem& system, const std::string& id, Find find) {
  for (const bool accounting : {false, true}) {
    const machine::QueryResult answer =
        accounting ? system.query_accounting({id}) : system.ask({id});
    if (!answer.failure.empty())
      return {.text = answer.failure};
    if (const std::optional<JobReport> report = find(answer.jobs))
      return {.text = fmt::format("{} says {}", system.name(), report_text(*report)),
              .may_end = report->state == JobReport::State::ended};
  }
  return {.text = fmt::format("{} no longer knows the job", system.name()), .may_end = true};
}

}  // namespace

JobNews ask_about(const space::Run& run, const std::string& step,
                  const workspace::Attempt& attempt) {
  if (std::string reason = why_not_asked(run); !reason.empty())
    return {.text = std::move(reason)};
  const space::Run whole = with_platform(run);
  const machine::BatchJob job = job_of(whole, step, attempt);
  return news_of(*machine::batch_system_of(whole.platform), attempt.job_id,
                 [&](const std::vector<JobReport>& jobs) {
                   const machine::KnownJobs known(jobs);
                   const JobReport* report = known.find(job);
                   return report ? std::optional(*report) : std::nullopt;
                 });
}

JobNews ask_about_job(const space::Run& run, const std::string& id) {
  if (std::string reason = why_not_asked(run); !reason.empty())
    return {.text = std::move(reason)};
  const auto system = machine::batch_system_of_commands(space::platform_of(run));
  return news_of(*system, id, [&](const std::vector<JobReport>& jobs) {
    // Of an array the task that has not ended yet, if there is one.
    const auto is_of_job = [&](const JobReport& report) {
      return report.id == id || machine::array_of(report.id) == id;
    };
    auto found = std::ranges::find_if(jobs, [&](const JobReport& report) {
      return is_of_job(report) && report.state != JobReport::State::ended;
    });
    if (found == jobs.end())
      found = std::ranges::find_if(jobs, is_of_job);
    return found == jobs.end() ? std::nullopt : std::optional(*found);
  });
}

JobsUnderWay jobs_under_way(const space::Run& run, const workspace::Workspace& workspace) {
  std::vector<workspace::Attempt> attempts = workspace.unsettled_attempts();
  std::erase_if(attempts, [](const workspace::Attempt& attempt) {
    return attempt.submission.empty() || attempt.job_id.empty();
  });
  if (attempts.empty())
    return {};
  std::string failure = workspace::is_own(run.directory.path)
                            ? why_not_asked(run)
                            : "the batch system was not asked: the run belongs to another user";
  if (!failure.empty())
    return {.count = attempts.size(), .failure = std::move(failure)};
  const space::Run whole = with_platform(run);
  std::vector<machine::BatchJob> jobs;
  std::vector<std::string> ids;
  for (const workspace::Attempt& attempt : attempts) {
    jobs.push_back(job_of(whole, workspace.workpackage(attempt.workpackage).step, attempt));
    ids.push_back(attempt.job_id);
  }
  const machine::QueryResult answer = machine::batch_system_of(whole.platform)->ask(ids);
  if (!answer.failure.empty())
    return {.count = jobs.size(), .failure = answer.failure};
  const machine::KnownJobs known(answer.jobs);
  const auto is_under_way = [&](const machine::BatchJob& job) {
    const JobReport* report = known.find(job);
    return report && report->state != JobReport::State::ended;
  };
  return {.count = static_cast<std::size_t>(std::ranges::count_if(jobs, is_under_way))};
}

}  // namespace bench::insight
