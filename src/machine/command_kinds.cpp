#include "command_system.hpp"
#include "system_kinds.hpp"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/systems.hpp>

namespace bench::batch {
namespace {

using Options = std::span<const std::string_view>;

// What the shipped templates set.
constexpr std::array<std::string_view, 6> pbs_options{"-N", "-o", "-e", "-j", "-J", "-r"};
constexpr std::array<std::string_view, 10> lsf_options{"-J", "-Jd", "-o",      "-oo", "-e",
                                                       "-w", "-W",  "-nnodes", "-rn", "-ti"};
constexpr std::array<std::string_view, 5> pjm_options{"-N", "-o", "-e", "-j", "--norestart"};
constexpr std::array<std::string_view, 6> uge_options{"-N", "-o", "-e", "-j", "-r", "-t"};
constexpr std::array<std::string_view, 8> cobalt_options{"--jobname", "-n", "--nodecount", "-t",
                                                         "--time",    "-o", "-e",          "-O"};

constexpr SystemKind by_commands(std::string_view name, const char* job_variable,
                                 const char* job_prefix, std::string_view directive,
                                 Options own_options, const ArrayKind& arrays = {}) {
  return {.name = name,
          .capabilities = {.queues_jobs = true, .limits_running = arrays.range != nullptr},
          .make = [](const SystemOptions& options) -> std::unique_ptr<BatchSystem> {
            return std::make_unique<CommandSystem>(options.commands);
          },
          .arrays = arrays,
          .needs_commands = true,
          .job_variable = job_variable,
          .job_prefix = job_prefix,
          .directive = directive,
          .own_options = own_options};
}

/// `[1-9]%2`, behind the name of the array. Source: bsub(1) of LSF 10.1, -J.
std::string lsf_range(int first, int last, int limit) {
  const std::string range = fmt::format("[{}-{}]", first, last);
  return limit > 0 ? fmt::format("{}%{}", range, limit) : range;
}

/// Source: bsub(1) of LSF 10.1, -w. An array is named without its brackets, a task with them.
std::string after_conditions(const Dependency& dependency) {
  std::vector<std::string> conditions;
  for (const std::string& id : dependency.succeeded)
    conditions.push_back(fmt::format("done({})", id));
  for (const std::string& id : dependency.ended)
    conditions.push_back(fmt::format("ended({})", id.substr(0, id.find('['))));
  return join(conditions, " && ");
}

// In PBS a dependency names whole arrays only (PBS Professional 2022.1 User's Guide, 6.2).
// The sizes are the defaults of the servers: max_array_size of PBS, MAX_JOB_ARRAY_SIZE of LSF.
constexpr ArrayKind pbs_arrays{.first = 1,
                               .line = "${PBS_ARRAY_INDEX:-1}",
                               .most = 10000,
                               .range = plain_range,
                               .after = after_jobs,
                               .tasks_are_awaitable = false};
// Outside of an array LSF sets the index to 0.
constexpr ArrayKind lsf_arrays{.first = 1,
                               .line = "$((${LSB_JOBINDEX:-0} > 0 ? LSB_JOBINDEX : 1))",
                               .most = 1000,
                               .range = lsf_range,
                               .after = after_conditions};

}  // namespace

const SystemKind pbs = by_commands("pbs", "PBS_JOBID", "PBS_", "#PBS", pbs_options, pbs_arrays);
const SystemKind lsf = by_commands("lsf", "LSB_JOBID", "LSB_", "#BSUB", lsf_options, lsf_arrays);
const SystemKind pjm = by_commands("pjm", "PJM_JOBID", "PJM_", "#PJM", pjm_options);
const SystemKind uge = by_commands("uge", "JOB_ID", nullptr, "#$", uge_options);
const SystemKind cobalt =
    by_commands("cobalt", "COBALT_JOBID", "COBALT_", "#COBALT", cobalt_options);
const SystemKind other = by_commands("other", nullptr, nullptr, "", {});

}  // namespace bench::batch
