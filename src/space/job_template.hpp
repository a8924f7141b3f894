#pragma once

#include <string>

#include <bench/machine/job_template.hpp>
#include <bench/space/run.hpp>

namespace bench::job {

/// A job template: beside the benchmark, beside the platform's file, or among the shipped ones.
/// @throws Error if there is none
const platform::JobTemplates::Template& job_template(const setup::Run& run,
                                                     const std::string& name);

}  // namespace bench::job
