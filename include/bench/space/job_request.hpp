#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>

#include <bench/base/diagnostics.hpp>
#include <bench/machine/job_template.hpp>
#include <bench/machine/launch.hpp>
#include <bench/machine/platform.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>

namespace bench::space {

/// What a job asks for beside its size, by the names of `document::job_settings`; empty: nothing.
/// `exclusive` is `yes` or empty.
using JobSettings = std::map<std::string, std::string, std::less<>>;

/// Partition, account, QOS and reservation among them.
machine::SubmissionDefaults asking_of(const JobSettings& settings);

/// What a workpackage of a batch step asks for, parameters inserted.
struct JobRequest {
  machine::Resources resources;
  double time_limit_s = 0;  ///< 0: the platform's default.
  int pack = 1;             ///< How many workpackages share a job.
  JobSettings settings;     ///< What else the job asks for.
  std::string options;      ///< Directives, a line each.

  auto operator<=>(const JobRequest&) const = default;
};

/// What a workpackage of a batch step asks for. A step with GPUs that says nothing of threads has
/// the platform's cores per device. Settings that the step does not have are the platform's.
/// @throws Error with the place of a number or a length of time that is none, of a pack whose
///         workpackages the platform cannot keep apart, of a setting or option that a directive
///         cannot hold, or of an option that is none or that bench sets itself
JobRequest job_request_of(const RenderContext& context);

/// Hardware threads of a core of the machine that jobs of a partition go to, as the platform file
/// or else the batch system tells; none where neither does.
std::optional<int> threads_per_core(const Run& run, const std::string& partition);

/// Whether the commands start their programs by the platform's launcher: `$jube_starter`.
bool starts_programs(const RenderContext& context);

/// @throws Error with the place of a setting of the step that this job template has no variable for
void check_settings(const Run& run, const model::Step& step, const std::string& text,
                    const std::string& name);

/// Checks the job templates of all batch steps before a run: settings without a variable are
/// errors, and names of parameters that stay as written give a warning.
void check_templates(const Run& run, Diagnostics& diagnostics);

/// A job template: beside the benchmark, beside the platform's file, or among the shipped ones.
/// @throws Error if there is none
const machine::JobTemplates::Template& job_template(const Run& run, const std::string& name);

}  // namespace bench::space
