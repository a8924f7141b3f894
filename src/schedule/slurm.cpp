#include "ask_program.hpp"
#include "slurm_states.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <set>

#include <fmt/core.h>

#include <bench/base/chunks.hpp>
#include <bench/base/text.hpp>
#include <bench/schedule/slurm.hpp>

namespace bench::schedule {
namespace {

/// In this order, and with the comment last, since it alone may hold the separator.
constexpr const char* columns = "%A|%F|%K|%T|%r|%B|%j|%k";
/// What squeue prints above them. Without it an answer is none: an empty one may come from a node
/// that cannot start processes any more.
constexpr std::string_view heading = "JOBID|";
constexpr std::size_t column_count = 8;

/// What sbatch says where it, or a controller behind it, was out of reach; else it has refused.
bool is_unavailable(const ProgramAnswer& answer) {
  if (!answer.exit_code)
    return true;
  constexpr std::array<std::string_view, 15> phrases{"Unable to contact slurm controller",
                                                     "Socket timed out",
                                                     "Connection refused",
                                                     "Connection timed out",
                                                     "Zero Bytes",
                                                     "Transport endpoint",
                                                     "Resource temporarily unavailable",
                                                     "Insane message",
                                                     "Communication connection failure",
                                                     "Communication shutdown failure",
                                                     "Message send failure",
                                                     "Message receive failure",
                                                     "Unexpected message received",
                                                     "controller shutting",
                                                     "standby mode"};
  return contains_any(answer.error, phrases);
}

/// Limits on how much a user may have in the queue: they pass as jobs end.
bool is_full(const std::string& error) {
  constexpr std::array<std::string_view, 4> phrases{"SubmitJob", "AssocMaxSubmit",
                                                    "temporarily unable to accept", "MaxJobCount"};
  return contains_any(error, phrases);
}

std::string said(const std::string& program, const ProgramAnswer& answer) {
  return answer.error.starts_with(program + ":") ? answer.error
                                                 : fmt::format("{}: {}", program, answer.error);
}

std::string text_or_empty(const std::string& field) {
  constexpr std::array<std::string_view, 5> nothing{"n/a", "N/A", "None", "None assigned",
                                                    "(null)"};
  return std::ranges::find(nothing, field) == nothing.end() ? field : "";
}

/// One line of squeue; nothing where it is none.
std::optional<JobReport> read_line(const std::string& line) {
  const auto fields = split(line, "|");
  if (fields.size() < column_count || !parse_integer(fields[0]))
    return std::nullopt;
  const auto meaning = slurm_state(fields[3], fields[4]);
  if (!meaning)
    return std::nullopt;
  JobReport report;
  report.id = fields[0];
  if (const auto task = parse_integer(fields[2])) {
    report.task = static_cast<int>(*task);
    report.id = fmt::format("{}_{}", fields[1], *task);
  }
  report.state = meaning->state;
  report.outcome = meaning->outcome;
  report.word = fields[3];
  report.reason = text_or_empty(fields[4]);
  report.host = text_or_empty(fields[5]);
  report.name = fields[6];
  report.submission = join(std::span(fields).subspan(7), "|");
  return report;
}

Answer read_queue(const ProgramAnswer& answer) {
  Answer queue;
  if (!answer.ok()) {
    queue.trouble = said("squeue", answer);
    return queue;
  }
  const auto lines = split(strip(answer.output), "\n");
  if (!lines.front().starts_with(heading)) {
    queue.trouble = "squeue answered something that is no list of jobs";
    return queue;
  }
  for (std::size_t k = 1; k < lines.size(); ++k) {
    auto report = read_line(lines[k]);
    if (!report) {
      queue.jobs.clear();
      queue.trouble = fmt::format("squeue answered something that is no list of jobs: {}",
                                  one_line(to_valid_utf8(lines[k].substr(0, 120))));
      return queue;
    }
    queue.jobs.push_back(std::move(*report));
  }
  return queue;
}

/// The jobs and arrays of `123_4`, each once.
std::string job_list(const std::vector<std::string>& ids) {
  std::set<std::string> jobs;
  for (const std::string& id : ids)
    jobs.insert(id.substr(0, id.find('_')));
  std::vector<std::string> list(jobs.begin(), jobs.end());
  if (list.size() == 1)
    list.push_back(list.front());  // squeue minds a single unknown id, but not one among others
  return join(list, ",");
}

/// One line of sacct: `JobID|State|JobName|NodeList|Comment`.
std::optional<JobReport> read_record(const std::string& line) {
  const auto fields = split(line, "|");
  if (fields.size() < 5)
    return std::nullopt;
  const auto meaning = slurm_state(fields[1], "");
  if (!meaning || meaning->state != JobReport::State::ended)
    return std::nullopt;
  JobReport report;
  report.id = fields[0];
  if (const auto underscore = report.id.find('_'); underscore != std::string::npos)
    if (const auto task = parse_integer(report.id.substr(underscore + 1)))
      report.task = static_cast<int>(*task);
  report.state = JobReport::State::ended;
  report.outcome = meaning->outcome;
  report.word = fields[1];
  report.name = fields[2];
  report.host = fields[3].find('[') == std::string::npos ? text_or_empty(fields[3]) : "";
  report.submission = join(std::span(fields).subspan(4), "|");
  return report;
}

}  // namespace

Verdict Slurm::submit(const Submission& submission) {
  const ProgramAnswer answer = ask_program({"sbatch", "--parsable", submission.script.string()},
                                           submission.environment, submission.directory);
  Verdict verdict;
  if (answer.ok()) {
    // `id` or `id;cluster`.
    verdict.id = strip(split(answer.output, ";").front());
    if (parse_integer(verdict.id))
      return verdict;
    verdict.id.clear();
    verdict.kind = Verdict::Kind::unavailable;
    verdict.reason =
        fmt::format("sbatch answered no job id: {}", one_line(to_valid_utf8(answer.output)));
    return verdict;
  }
  verdict.kind = is_unavailable(answer)  ? Verdict::Kind::unavailable
                 : is_full(answer.error) ? Verdict::Kind::full
                                         : Verdict::Kind::refused;
  verdict.reason = said("sbatch", answer);
  return verdict;
}

Answer Slurm::ask(const std::vector<std::string>& ids) {
  return read_queue(
      ask_program({"squeue", "-a", "-r", "-t", "all", "-o", columns, "-j", job_list(ids)},
                  current_environment()));
}

Answer Slurm::ask_for_all() {
  return read_queue(ask_program({"squeue", "-a", "--me", "-r", "-t", "all", "-o", columns},
                                current_environment()));
}

Answer Slurm::look_up(const std::vector<std::string>& ids) {
  Answer books;
  if (!has_accounting_)
    return books;
  const ProgramAnswer answer = ask_program({"sacct", "-X", "-P", "-n", "-j", job_list(ids), "-o",
                                            "JobID,State,JobName,NodeList,Comment"},
                                           current_environment());
  // The job completion plugin has books as well, but neither comments nor tasks of arrays.
  has_accounting_ = answer.error.find("accounting storage is disabled") == std::string::npos;
  if (!answer.ok() && has_accounting_)
    books.trouble = said("sacct", answer);
  for (const std::string& line : split(answer.output, "\n"))
    if (auto report = read_record(line))
      books.jobs.push_back(std::move(*report));
  return books;
}

std::string Slurm::cancel(const std::vector<std::string>& ids) {
  // scancel takes many ids, but one argument list only.
  constexpr std::size_t at_once = 1000;
  constexpr std::array<std::string_view, 2> of_ended{"already complet", "Invalid job id"};
  for (const auto& some : chunks_of(ids, at_once)) {
    std::vector<std::string> arguments{"scancel"};
    arguments.insert(arguments.end(), some.begin(), some.end());
    const ProgramAnswer answer = ask_program(std::move(arguments), current_environment());
    if (!answer.ok() && !contains_any(answer.error, of_ended))
      return said("scancel", answer);
  }
  return "";
}

int Slurm::max_array_size() {
  if (!max_array_size_) {
    constexpr int slurms_default = 1001;  // slurm.conf(5), MaxArraySize
    const ProgramAnswer answer = ask_program({"scontrol", "show", "config"}, current_environment());
    std::smatch found;
    const std::regex line(R"(MaxArraySize\s*=\s*(\d+))");
    max_array_size_ = std::regex_search(answer.output, found, line)
                          ? static_cast<int>(parse_integer(found[1].str()).value_or(1))
                          : slurms_default;
  }
  return std::max(1, *max_array_size_);
}

}  // namespace bench::schedule
