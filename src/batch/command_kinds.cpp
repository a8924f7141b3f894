#include "system_kinds.hpp"

#include <memory>
#include <string_view>

#include <bench/batch/batch_system.hpp>
#include <bench/batch/command_system.hpp>
#include <bench/batch/systems.hpp>

namespace bench::batch {
namespace {

constexpr SystemKind by_commands(std::string_view name, const char* job_variable,
                                 const char* job_prefix) {
  return {.name = name,
          .capabilities = {.queues_jobs = true},
          .make = [](const SystemOptions& options) -> std::unique_ptr<BatchSystem> {
            return std::make_unique<CommandSystem>(options.commands);
          },
          .needs_commands = true,
          .job_variable = job_variable,
          .job_prefix = job_prefix};
}

}  // namespace

const SystemKind pbs = by_commands("pbs", "PBS_JOBID", "PBS_");
const SystemKind lsf = by_commands("lsf", "LSB_JOBID", "LSB_");
const SystemKind pjm = by_commands("pjm", "PJM_JOBID", "PJM_");
const SystemKind uge = by_commands("uge", "JOB_ID", nullptr);
const SystemKind cobalt = by_commands("cobalt", "COBALT_JOBID", "COBALT_");
const SystemKind other = by_commands("other", nullptr, nullptr);

}  // namespace bench::batch
