#include "system_kinds.hpp"

#include <memory>
#include <string_view>

#include <bench/batch/batch_system.hpp>
#include <bench/batch/command_system.hpp>
#include <bench/batch/systems.hpp>

namespace bench::batch {
namespace {

constexpr SystemKind by_commands(std::string_view name, const char* job_variable) {
  return {.name = name,
          .capabilities = {.queues_jobs = true},
          .make = [](const SystemOptions& options) -> std::unique_ptr<BatchSystem> {
            return std::make_unique<CommandSystem>(options.commands);
          },
          .needs_commands = true,
          .job_variable = job_variable};
}

}  // namespace

const SystemKind pbs = by_commands("pbs", "PBS_JOBID");
const SystemKind lsf = by_commands("lsf", "LSB_JOBID");
const SystemKind pjm = by_commands("pjm", "PJM_JOBID");
const SystemKind uge = by_commands("uge", "JOB_ID");
const SystemKind cobalt = by_commands("cobalt", "COBALT_JOBID");
const SystemKind other = by_commands("other", nullptr);

}  // namespace bench::batch
