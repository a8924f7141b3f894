#pragma once

#include <bench/base/process.hpp>

namespace bench::job {

/// What a job script starts from: the environment of every command; but what the user's BASH_ENV
/// prints, which each bash of the script reads first, stays out of the output of the commands.
Environment script_environment();

}  // namespace bench::job
