#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/cli/output/information.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::cli {
namespace {

using Lines = std::vector<std::vector<std::string>>;

std::string related(const inspect::RunView& view, const std::vector<long long>& ids) {
  std::vector<std::string> texts;
  for (const long long id : ids)
    texts.push_back(fmt::format("{} ({})", id, view.at(id).step));
  return join(texts, ", ");
}

void add_attempt(const workspace::Attempt& attempt, Lines& lines) {
  lines.push_back({"attempt:", std::to_string(attempt.number)});
  if (!attempt.host.empty())
    lines.push_back({"host:", attempt.host});
  if (!attempt.job_id.empty())
    lines.push_back({"job:", attempt.job_id});
  // What JUBE has run tells no beginning.
  if (const double started = attempt.started_unix_s.value_or(attempt.claimed_unix_s); started > 0)
    lines.push_back({"started:", local_time_at(started)});
  if (attempt.ended_unix_s)
    lines.push_back({"ended:", local_time_at(*attempt.ended_unix_s)});
  if (attempt.exit_code)
    lines.push_back({"exit code:", std::to_string(*attempt.exit_code)});
}

std::string section(const std::string& title, const Lines& lines) {
  return lines.empty() ? "" : "\n" + title + "\n" + aligned_lines(lines, "  ");
}

}  // namespace

std::string workpackage_information(const inspect::RunView& view, const setup::Run& run,
                                    const workspace::Workspace& workspace, long long id) {
  const workspace::Workpackage& workpackage = view.at(id);
  Lines lines{{"workpackage:", std::to_string(id)},
              {"step:", workpackage.step},
              {"iteration:", std::to_string(workpackage.iteration)},
              {"state:", std::string(name_of(workpackage.state))}};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty())
      lines.push_back({name, hanging(value, 4)});
  };
  add("reason:", workpackage.reason);
  add("directory:", short_path(run.directory.path / workpackage.directory));
  add("parents:", related(view, workpackage.parents));
  add("children:", related(view, view.children(id)));
  if (workpackage.progress.cycle > 0)
    add("cycle:", std::to_string(workpackage.progress.cycle));
  if (const workspace::Attempt* attempt = view.attempt(id))
    add_attempt(*attempt, lines);
  Lines parameters;
  for (const auto& [name, value] : workpackage.parameters)
    parameters.push_back({name + ":", hanging(value, 4)});
  Lines environment;
  for (const auto& [name, value] : workspace.environment(id))
    environment.push_back(
        {value ? name + " set to" : name + " unset", value ? hanging(*value, 4) : ""});
  return aligned_lines(lines) + section("parameters", parameters) +
         section("environment changes", environment);
}

}  // namespace bench::cli
