#include "submission_script.hpp"

#include "bundle.hpp"

#include <optional>
#include <string>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/space/job_script.hpp>
#include <bench/space/run.hpp>
#include <bench/space/script_environment.hpp>

namespace bench::scheduler {

namespace fs = std::filesystem;

namespace {

/// The tasks of an array, as in `0-99%10`; empty for a job.
std::string array_range(const setup::Run& run, const Bundle& bundle, int limit) {
  if (bundle.tasks.size() == 1)
    return "";
  const int last = bundle.first_task + static_cast<int>(bundle.tasks.size()) - 1;
  return run.platform.system().arrays.range(bundle.first_task, last, limit);
}

}  // namespace

batch::Submission write_submission(const setup::Run& run, const Bundle& bundle, int limit,
                                   const std::string& dependency) {
  const Planned& first = bundle.first();
  const JobShape& shape = *first.shape;
  const std::string name = job::job_name(
      run, shape.context->step.name,
      bundle.is_plain() ? std::optional(first.job.workpackage) : std::nullopt, bundle.uuid);
  batch::Submission submission{.uuid = bundle.uuid,
                               .name = name,
                               .script = first.job.script,
                               .directory = first.job.work_directory,
                               .environment = job::script_environment(),
                               .is_array = bundle.tasks.size() > 1};
  set_variable(submission.environment, "BENCH_SUBMISSION", bundle.uuid);
  // Some batch systems take the account on their command line only.
  if (const std::string& account = shape.request.settings.at("account"); !account.empty())
    set_variable(submission.environment, "BENCH_ACCOUNT", account);
  if (bundle.is_plain() && (dependency.empty() || shape.is_alone))
    return submission;
  submission.directory = run.directory.path / "submissions" / bundle.uuid;
  submission.script = submission.directory / "job.sh";
  make_directories(submission.directory);
  const fs::path list = submission.directory / "workpackages";
  std::string lines;
  for (const Task& task : bundle.tasks) {
    for (const Planned* one : task)
      lines += fmt::format("{} {} ", shell_quote(one->job.script.string()), one->job.uuid);
    lines.back() = '\n';
  }
  write_file_atomically(list, lines);
  const int pack = static_cast<int>(bundle.tasks.front().size());
  const std::string messages =
      job::directive_file(run.platform, job::messages_of(run, bundle.uuid));
  write_file_atomically(submission.script,
                        job::fill_job_template(*shape.context, shape.request,
                                               {.uuid = bundle.uuid,
                                                .job_name = name,
                                                .array = array_range(run, bundle, limit),
                                                .dependency = dependency,
                                                .output = messages,
                                                .error = messages,
                                                .pack = pack,
                                                .parts = job::render_dispatcher(
                                                    *shape.context, shape.request, pack, list)}));
  return submission;
}

}  // namespace bench::scheduler
