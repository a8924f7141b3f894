#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <bench/machine/job.hpp>
#include <bench/machine/job_template.hpp>
#include <bench/machine/platform.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

/// A file name as a directive takes it. Where the batch system expands patterns, `%` stands for
/// itself when doubled, and some names cannot be written at all: `/dev/null` for those, since the
/// script opens its files itself.
std::string directive_file(const machine::Platform& platform, const std::filesystem::path& file);

/// What of a job script belongs to one submission.
struct JobHeader {
  std::string uuid;  ///< The comment, by which bench finds the job again.
  std::string job_name;
  std::string array;                 ///< `0-99%4`; empty: no array.
  std::string dependency;            ///< `afterany:12`; empty: none.
  std::string output;                ///< File of what the batch system and the script's head print.
  std::string error;                 ///< The same of errors.
  int pack = 1;                      ///< How many workpackages run in it side by side.
  machine::TemplateVariables parts;  ///< `body`, what follows the head, and what that is made of.
};

/// Fills the job template. Pure but for reading the template.
/// @throws Error with the place of an unknown or empty template variable
std::string fill_job_template(const RenderContext& context, const JobRequest& request,
                              const JobHeader& header);

/// The name of a submission's job: of one workpackage, or of several of a step. Where the batch
/// system keeps no comments it is what bench finds the job by, else it is for people.
/// @param uuid of the submission
std::string job_name(const Run& run, const std::string& step, std::optional<long long> workpackage,
                     const std::string& uuid);

/// The same of the job that an attempt was handed over in.
std::string job_name(const Run& run, const std::string& step, const workspace::Attempt& attempt);

/// What the batch system writes about the array or the pack that goes out as this submission.
std::filesystem::path messages_of(const Run& run, const std::string& submission);

/// The script of one workpackage: head and body.
/// @param inherited what it changes in the environment before anything else
/// @param snippets the active commands
/// @param launches see measured_launches
std::string render_job_script(const RenderContext& context, const JobRequest& request,
                              const std::string& uuid,
                              const workspace::EnvironmentChanges& inherited,
                              const std::vector<machine::Snippet>& snippets, int launches);

/// The part of the script that is equal for all workpackages that can go out together. Nothing for
/// a template without `{{body}}`, whose jobs cannot run the scripts of others, or `{{array}}`.
std::optional<std::string> render_head(const RenderContext& context, const JobRequest& request);

/// Whether jobs of the step can wait for others: the batch system has dependencies, and the job
/// template, which must not depend on parameters, has lines for them.
bool takes_dependencies(const Run& run, const model::Step& step);

/// Whether the batch system keeps a step to the number of jobs that may run at a time: it can, and
/// the job template has lines for arrays and dependencies.
bool limits_running(const Run& run, const model::Step& step);

/// The words before a script that starts it as a job step of the allocation that bench runs in.
/// None where the platform has jobs, or where the script's own commands start job steps.
std::vector<std::string> script_launcher(const RenderContext& context, const JobRequest& request);

/// The body of a script that runs those of others: its list has a line for each task.
machine::TemplateVariables render_dispatcher(const RenderContext& context,
                                             const JobRequest& request, int pack,
                                             const std::filesystem::path& list);

/// The platform's launch line for the step's programs, the meter included: `$jube_starter`. Where
/// it gives each task of a node its own GPUs, each has its own meter.
/// @param out where the meter writes; empty: without it
std::string launch_prefix(const RenderContext& context, const JobRequest& request,
                          const std::filesystem::path& out);

}  // namespace bench::space
