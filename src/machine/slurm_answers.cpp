#include "slurm_answers.hpp"

#include "ask_program.hpp"
#include "slurm_states.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/job_id.hpp>

namespace bench::batch {

// ASCII's record separator and unit separator. The last field is empty in a record that is whole.
const char* const squeue_format = "\x1e%A\x1f%F\x1f%K\x1f%T\x1f%r\x1f%B\x1f%j\x1f%k\x1f";
const char* const sacct_fields = "JobID,State,JobName,NodeList,Comment";
const char* const sacct_delimiter = "--delimiter=\x1f";

namespace {

constexpr std::string_view record_mark = "\x1e";
constexpr std::string_view field_mark = "\x1f";
constexpr std::size_t queue_fields = 9;
constexpr std::size_t accounting_fields = 5;
/// What squeue prints above the jobs. Output without it is not an answer: a node that can no longer
/// start processes gives an empty one.
constexpr std::string_view heading = "JOBID\x1f";

std::string text_or_empty(const std::string& field) {
  constexpr std::array<std::string_view, 5> nothing{"n/a", "N/A", "None", "None assigned",
                                                    "(null)"};
  return std::ranges::find(nothing, field) == nothing.end() ? field : "";
}

std::optional<JobReport> read_job(const std::string& record, std::string_view cluster) {
  const auto fields = split(record, field_mark);
  if (fields.size() != queue_fields || !parse_integer(fields[0]))
    return std::nullopt;
  const SlurmState meaning = slurm_state(fields[3], fields[4]);
  JobReport report;
  report.id = with_cluster(fields[0], cluster);
  if (const auto task = parse_integer(fields[2])) {
    report.task = static_cast<int>(*task);
    report.id = task_of(with_cluster(fields[1], cluster), *report.task);
  }
  report.state = meaning.state;
  report.outcome = meaning.outcome;
  report.word = fields[3];
  report.reason = text_or_empty(fields[4]);
  report.host = text_or_empty(fields[5]);
  report.name = fields[6];
  report.comment = text_or_empty(fields[7]);
  return report;
}

std::optional<JobReport> read_record(const std::string& line, std::string_view cluster) {
  const auto fields = split(line, field_mark);
  if (fields.size() != accounting_fields)
    return std::nullopt;
  const SlurmState meaning = slurm_state(fields[1], "");
  if (meaning.state != JobReport::State::ended)
    return std::nullopt;
  JobReport report;
  report.id = with_cluster(fields[0], cluster);
  if (const auto underscore = fields[0].find('_'); underscore != std::string::npos)
    if (const auto task = parse_integer(fields[0].substr(underscore + 1)))
      report.task = static_cast<int>(*task);
  report.state = JobReport::State::ended;
  report.outcome = meaning.outcome;
  report.word = fields[1];
  report.name = fields[2];
  report.host = fields[3].find('[') == std::string::npos ? text_or_empty(fields[3]) : "";
  report.comment = text_or_empty(fields[4]);
  return report;
}

/// The tasks in the id of an array's part that never began, as in `123_[0-4,7%2]`; empty for other
/// ids, and where Slurm has cut the list off.
std::vector<int> tasks_in(std::string_view id) {
  const auto open = id.find("_[");
  if (open == std::string_view::npos || !id.ends_with(']'))
    return {};
  std::string_view list = id.substr(open + 2, id.size() - open - 3);
  list = list.substr(0, list.find('%'));
  std::vector<int> tasks;
  for (const std::string& part : split_names(list, ",")) {
    const auto dash = part.find('-');
    const auto first = parse_integer(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_integer(part.substr(dash + 1));
    if (!first || !last)
      return {};
    for (auto task = *first; task <= *last; ++task)
      tasks.push_back(static_cast<int>(task));
  }
  return tasks;
}

}  // namespace

std::string said(const std::string& program, const ProgramAnswer& answer) {
  const std::string name = program + ": ";
  const std::string text = replace_all(answer.error, "; " + name, "; ");
  return text.starts_with(name) ? text : name + text;
}

std::string job_id_in(std::string_view answer) {
  std::string id;
  for (const std::string& line : split(answer, "\n")) {
    const std::string_view word = strip(line);
    if (parse_integer(word.substr(0, word.find(';'))))
      id = word;
  }
  return id;
}

QueryResult read_queue(const ProgramAnswer& answer, std::string_view cluster) {
  QueryResult queue;
  if (!answer.ok()) {
    queue.failure = said("squeue", answer);
    return queue;
  }
  // Where squeue was given a cluster, it prints its name before the first mark.
  auto records = split(answer.output, record_mark);
  records.erase(records.begin());
  if (records.empty() || !records.front().starts_with(heading)) {
    queue.failure = "the answer of squeue is not a list of jobs";
    return queue;
  }
  if (!answer.output.ends_with('\n')) {
    queue.failure = fmt::format("the answer of squeue was cut off: {}",
                                one_line(to_valid_utf8(records.back().substr(0, 120))));
    return queue;
  }
  for (std::size_t k = 1; k < records.size(); ++k)
    if (auto report = read_job(records[k], cluster))
      queue.jobs.push_back(std::move(*report));
  return queue;
}

std::vector<JobReport> read_records(const std::string& output, std::string_view cluster) {
  std::vector<JobReport> jobs;
  for (const std::string& line : split(output, "\n"))
    if (auto report = read_record(line, cluster)) {
      const std::string part = without_cluster(report->id);
      const std::vector<int> tasks = tasks_in(part);
      for (const int task : tasks) {
        report->task = task;
        report->id = with_cluster(task_of(part.substr(0, part.find('_')), task), cluster);
        jobs.push_back(*report);
      }
      if (tasks.empty())
        jobs.push_back(std::move(*report));
    }
  return jobs;
}

}  // namespace bench::batch
