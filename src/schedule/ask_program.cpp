#include "ask_program.hpp"

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>

namespace bench::schedule {
namespace {

/// Slurm's programs give up on a controller that is down after 9 s; this is for one that hangs.
constexpr double patience_s = 60;

Environment clean(Environment environment) {
  std::erase_if(environment, [](const auto& variable) {
    const std::string& name = variable.first;
    return name.starts_with("SBATCH_") || name.starts_with("SQUEUE_") ||
           name.starts_with("SACCT_") || (name.starts_with("SLURM_") && name != "SLURM_CONF");
  });
  return environment;
}

}  // namespace

ProgramAnswer ask_program(std::vector<std::string> arguments, Environment environment,
                          const std::filesystem::path& directory) {
  // A batch system that does not answer is an answer here: the caller goes on without.
  try {
    const CommandOutput output = run_command({.arguments = std::move(arguments),
                                              .directory = directory,
                                              .environment = clean(std::move(environment))},
                                             patience_s);
    ProgramAnswer answer{.exit_code = std::nullopt,
                         .output = output.standard_output,
                         .error = one_line(output.standard_error)};
    if (output.status.signal == 0)
      answer.exit_code = output.status.code;
    if (!output.status.success() && answer.error.empty())
      answer.error = output.status.description();
    return answer;
  } catch (const Error& error) {
    return {.exit_code = std::nullopt, .output = "", .error = error.message()};
  }
}

}  // namespace bench::schedule
