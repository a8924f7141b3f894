#pragma once

#include <optional>
#include <string>

#include <bench/machine/launch.hpp>
#include <bench/space/job_settings.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>

namespace bench::space {

/// What a workpackage of a batch step asks for, parameters inserted.
struct JobRequest {
  machine::Resources resources;
  double time_limit_s = 0;  ///< 0: the platform's default.
  int pack = 1;             ///< How many workpackages share a job.
  JobSettings settings;     ///< What else the job asks for.
  std::string options;      ///< Directives, a line each.

  bool operator==(const JobRequest&) const = default;
};

/// What a workpackage of a batch step asks for. A step with GPUs that says nothing of threads has
/// the platform's cores per device.
/// @throws Error with the place of a number or a length of time that is none, or of a pack whose
///         workpackages the platform cannot keep apart
JobRequest job_request_of(const RenderContext& context);

/// Hardware threads of a core of the machine that jobs of a partition go to, as the platform file
/// or else the batch system tells; none where neither does.
std::optional<int> threads_per_core(const Run& run, const std::string& partition);

/// Whether the commands start their programs by the platform's launcher: `$jube_starter`.
bool starts_programs(const RenderContext& context);

}  // namespace bench::space
