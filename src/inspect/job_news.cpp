#include "job_news.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/batch/batch_system.hpp>
#include <bench/batch/known_jobs.hpp>
#include <bench/job/job_script.hpp>
#include <bench/platform/batch_system.hpp>
#include <bench/platform/platform.hpp>
#include <bench/setup/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::inspect {
namespace {

using batch::JobReport;

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

}  // namespace

namespace {

/// @param find the job among those that were told of
template <class Find>
JobNews ask(const setup::Run& run, const std::string& id, Find find) {
  const std::string name = setup::platform_source(run);
  if (!platform::is_platform_file(name) &&
      !std::ranges::binary_search(platform::platform_names(), name))
    return {.text = fmt::format("the batch system was not asked: unknown platform {}", name)};
  const auto system = platform::batch_system_of(setup::platform_of(run));
  for (const bool accounting : {false, true}) {
    const batch::QueryResult answer =
        accounting ? system->query_accounting({id}) : system->ask({id});
    if (!answer.trouble.empty())
      return {.text = answer.trouble};
    if (const std::optional<JobReport> report = find(answer.jobs))
      return {.text = fmt::format("{} says {}", system->name(), report_text(*report)),
              .may_end = report->state == JobReport::State::ended};
  }
  return {.text = fmt::format("{} no longer knows the job", system->name()), .may_end = true};
}

}  // namespace

JobNews ask_about(const setup::Run& run, const std::string& step,
                  const workspace::Attempt& attempt) {
  return ask(run, attempt.job_id, [&](const std::vector<JobReport>& jobs) {
    const batch::KnownJobs known(jobs);
    setup::Run with_platform = run;  // on which the names of jobs depend
    with_platform.platform = setup::platform_of(run);
    const JobReport* report = known.find({.job = {},
                                          .submission = attempt.submission,
                                          .name = job::job_name(with_platform, step, attempt),
                                          .id = attempt.job_id,
                                          .task = attempt.task,
                                          .messages = {}});
    return report ? std::optional(*report) : std::nullopt;
  });
}

JobNews ask_about_job(const setup::Run& run, const std::string& id) {
  return ask(run, id, [&](const std::vector<JobReport>& jobs) {
    const auto found = std::ranges::find(jobs, id, &JobReport::id);
    return found == jobs.end() ? std::nullopt : std::optional(*found);
  });
}

}  // namespace bench::inspect
