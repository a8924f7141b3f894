#pragma once

#include <bench/machine/job.hpp>
#include <bench/space/render_context.hpp>

namespace bench::job {

/// Has every command of the attempt note itself in the step's `do_log_file` before it runs, if the
/// step has one: a shell script that repeats what was executed. Of the environment it holds what
/// differs from bench's own, no more: the rest may hold secrets.
void log_commands(const RenderContext& context, execute::Job& job);

}  // namespace bench::job
