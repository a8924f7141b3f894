#include "ask_program.hpp"
#include "slurm.hpp"
#include "slurm_program.hpp"
#include "system_kinds.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/batch_system.hpp>
#include <bench/machine/systems.hpp>

namespace bench::batch {

namespace {

constexpr std::array<std::string_view, 27> slurm_options{"--array",
                                                         "-a",
                                                         "--clusters",
                                                         "-M",
                                                         "--comment",
                                                         "--dependency",
                                                         "-d",
                                                         "--kill-on-invalid-dep",
                                                         "--error",
                                                         "-e",
                                                         "--job-name",
                                                         "-J",
                                                         "--nodes",
                                                         "-N",
                                                         "--ntasks-per-node",
                                                         "--output",
                                                         "-o",
                                                         "--open-mode",
                                                         "--parsable",
                                                         "--requeue",
                                                         "--no-requeue",
                                                         "--test-only",
                                                         "--time",
                                                         "-t",
                                                         "--wait",
                                                         "-W",
                                                         "--wrap"};

}  // namespace

const SystemKind slurm{
    .name = "slurm",
    .capabilities = {.queues_jobs = true,
                     .keeps_comments = true,
                     .has_job_steps = true,
                     .limits_running = true,
                     .expands_patterns = true,
                     .step_launcher = "srun"},
    .make = [](const SystemOptions& options) -> std::unique_ptr<BatchSystem> {
      return std::make_unique<Slurm>(clusters_in(options.directives));
    },
    .arrays = {.first = 0,
               .line = "$((${SLURM_ARRAY_TASK_ID:-0} + 1))",
               .most = 1001,
               .range = plain_range,
               .after = after_jobs},
    .job_variable = "SLURM_JOB_ID",
    .job_prefix = "SLURM_JOB_",
    .job_nodes = "${SLURM_JOB_NODELIST:-}",
    .submit_message = R"(Submitted batch job (\d+))",
    .submit_variables = {"SBATCH_PARTITION", "SBATCH_ACCOUNT", "SBATCH_QOS", "SBATCH_RESERVATION"},
    .directive = "#SBATCH",
    .own_options = slurm_options,
    .misleads =
        [](std::string_view name) {
          return name.starts_with("SBATCH_") || name.starts_with("SQUEUE_") ||
                 name.starts_with("SACCT_") || (name.starts_with("SLURM_") && name != "SLURM_CONF");
        },
};

// Its jobs are job steps, which bench starts itself.
const SystemKind slurm_allocation{
    .name = "allocation",
    .capabilities = {.has_job_steps = true, .fills_allocation = true, .step_launcher = "srun"},
    .make = make_no_system};

std::vector<std::string> clusters_in(const std::string& directives) {
  for (const std::string& line : split(directives, "\n")) {
    const auto words = split_names(replace_all(line, "=", " "), " ");
    if (words.empty() || words[0] != "#SBATCH")
      continue;
    for (std::size_t k = 1; k + 1 < words.size() && !words[k].starts_with('#'); ++k)
      if (words[k] == "-M" || words[k] == "--clusters" || words[k] == "--cluster")
        return split_names(words[k + 1]);
  }
  return {};
}

ProgramAnswer ask_slurm(std::vector<std::string> arguments, const std::string& cluster) {
  if (!cluster.empty())
    arguments.insert(arguments.begin() + 1, {"-M", cluster});
  return ask_program(std::move(arguments), current_environment());
}

}  // namespace bench::batch
