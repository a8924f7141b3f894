#include "job_news.hpp"

#include "batch_system.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace bench::engine {
namespace {

using schedule::JobReport;

/// A job id can be given away again, the UUID cannot; some batch systems keep no UUID.
const JobReport* find_report(const schedule::Answer& answer, const workspace::Attempt& attempt) {
  const auto found = std::ranges::find_if(answer.jobs, [&](const JobReport& report) {
    return report.submission.empty()
               ? report.id == attempt.job_id
               : report.submission == attempt.submission && report.task == attempt.task;
  });
  return found == answer.jobs.end() ? nullptr : &*found;
}

std::string report_text(const JobReport& report) {
  std::string text = report.word;
  if (!report.reason.empty())
    text += fmt::format(" ({})", report.reason);
  if (!report.host.empty())
    text += " on " + report.host;
  if (report.state == JobReport::State::blocked)
    text += "; that does not pass by itself";
  return text;
}

}  // namespace

JobNews ask_about(const Run& run, const workspace::Attempt& attempt) {
  const std::string& name = run.fact("platform");
  if (!std::ranges::binary_search(platform::platform_names(), name))
    return {.text = fmt::format("nobody was asked: the platform {} is not known here", name)};
  const auto system = batch_system_of(platform_of(run));
  for (const bool books : {false, true}) {
    const std::vector<std::string> ids{attempt.job_id};
    const schedule::Answer answer = books ? system->look_up(ids) : system->ask(ids);
    if (!answer.trouble.empty())
      return {.text = answer.trouble};
    if (const JobReport* report = find_report(answer, attempt))
      return {.text = fmt::format("{} says {}", system->name(), report_text(*report)),
              .may_end = report->state == JobReport::State::ended};
  }
  return {.text = fmt::format("{} does not know the job any more", system->name()),
          .may_end = true};
}

}  // namespace bench::engine
