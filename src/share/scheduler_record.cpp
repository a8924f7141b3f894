#include "scheduler_record.hpp"

#include "json_ld.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/time.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/platform.hpp>
#include <bench/machine/platform_batch_system.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::crate {
namespace {

using batch::JobReport;
using workspace::Attempt;

/// The batch system's records, by job.
struct Answer {
  std::string system;  ///< Empty: it was not asked.
  std::map<std::string, JobReport> jobs;
  std::string failure;  ///< Why the other jobs are unknown.
};

void ask(batch::BatchSystem& system, const std::vector<std::string>& ids, std::size_t at_once,
         Answer& answer) {
  for (std::size_t begin = 0; begin < ids.size() && answer.failure.empty(); begin += at_once) {
    const std::vector<std::string> some(
        ids.begin() + static_cast<std::ptrdiff_t>(begin),
        ids.begin() + static_cast<std::ptrdiff_t>(std::min(begin + at_once, ids.size())));
    // Accounting records how a job ended; the queue may list jobs that accounting lacks.
    for (const bool accounting : {false, true}) {
      batch::QueryResult result = accounting ? system.query_accounting(some) : system.ask(some);
      if (accounting)
        answer.failure = result.failure;
      for (JobReport& report : result.jobs)
        answer.jobs.insert_or_assign(report.id, std::move(report));
    }
  }
}

Answer ask_about(const setup::Run& run, const std::vector<std::string>& ids) {
  Answer answer;
  const std::string source = setup::platform_source(run);
  if (!platform::is_platform_file(source) &&
      !std::ranges::binary_search(platform::platform_names(), source)) {
    answer.failure = fmt::format("platform {} is unknown on this machine", source);
    return answer;
  }
  const platform::Platform platform = setup::platform_of(run);
  const auto system = platform::batch_system_of(platform);
  answer.system = system->name();
  ask(*system, ids, static_cast<std::size_t>(std::max(1, platform.polling.jobs_per_question)),
      answer);
  if (answer.failure.empty())
    answer.failure = fmt::format("{} no longer knows the job", answer.system);
  return answer;
}

Json ours(const Attempt& attempt) {
  Json json{{"job_id", attempt.job_id}, {"host", attempt.host}};
  if (attempt.started_unix_s)
    json["started"] = utc_time_at(*attempt.started_unix_s);
  if (attempt.ended_unix_s)
    json["ended"] = utc_time_at(*attempt.ended_unix_s);
  if (attempt.exit_code)
    json["exit_code"] = *attempt.exit_code;
  json["outcome"] = attempt.outcome;
  if (!attempt.reason.empty())
    json["reason"] = attempt.reason;
  return json;
}

Json theirs(const Attempt& attempt, const Answer& answer) {
  const auto found = answer.jobs.find(attempt.job_id);
  if (found == answer.jobs.end())
    return {{"absent", answer.failure}};
  const JobReport& report = found->second;
  Json json{{"state", report.word}};
  if (!report.reason.empty())
    json["reason"] = report.reason;
  if (!report.host.empty())
    json["host"] = report.host;
  return json;
}

}  // namespace

std::string scheduler_json(const setup::Run& run, const std::vector<Attempt>& attempts) {
  std::vector<std::string> ids;
  for (const Attempt& attempt : attempts)
    if (!attempt.job_id.empty() && std::ranges::find(ids, attempt.job_id) == ids.end())
      ids.push_back(attempt.job_id);
  if (ids.empty())
    return "";
  const Answer answer = ask_about(run, ids);
  Json jobs = Json::array();
  for (const Attempt& attempt : attempts)
    if (!attempt.job_id.empty())
      jobs.push_back({{"workpackage", attempt.workpackage},
                      {"bench", ours(attempt)},
                      {"batch_system", theirs(attempt, answer)}});
  return Json{{"batch_system", answer.system}, {"jobs", std::move(jobs)}}.dump(
             1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace bench::crate
