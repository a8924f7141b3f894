#pragma once

#include <filesystem>
#include <string>

#include <bench/space/job_request.hpp>
#include <bench/space/render_context.hpp>

namespace bench::job {

/// What precedes a program in a script so that it is measured: the meter with the options that the
/// step asks for. This one runs where the script does.
/// @param out where the meter writes
/// @throws Error for a setting that the meter would refuse, so that nobody queues for that
std::string meter_of_commands(const RenderContext& context, const JobRequest& request,
                              const std::filesystem::path& out);

/// The same behind a launcher, which starts it as every task of a node. Each measures where each
/// has GPUs of its own, which the others do not see.
std::string meter_of_tasks(const RenderContext& context, const JobRequest& request,
                           const std::filesystem::path& out);

}  // namespace bench::job
