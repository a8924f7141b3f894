#pragma once

#include "scope.hpp"

#include <bench/schedule/job.hpp>

namespace bench::engine {

/// Has every command of the attempt note itself in the step's `do_log_file` before it runs, if the
/// step has one: a shell script that repeats what was executed. Of the environment it holds what
/// differs from bench's own, no more: the rest may hold secrets.
void log_commands(const Scope& scope, schedule::Job& job);

}  // namespace bench::engine
