#include <array>
#include <string>

#include <fmt/core.h>

#include <bench/cli/output/information.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::cli {

std::string run_information(const setup::Run& run, const workspace::Workspace& workspace) {
  constexpr std::array shown{
      "benchmark",    "comment",    "started",     "accepted",     "tags",          "platform",
      "budget_nh",    "order_seed", "parallel",    "power_source", "input_file",    "input_sha256",
      "git_revision", "host",       "load",        "system",       "cpu",           "topology",
      "clocks",       "firmware",   "cpus_usable", "cpus_allowed", "memory_bytes",  "gpus",
      "gpu_driver",   "container",  "modules",     "environment",  "bench_version", "jube_version",
      "uuid"};
  std::string text;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty())
      text += fmt::format("{:>14}: {}\n", name, hanging(value, 16));
  };
  add("id", std::to_string(run.directory.id));
  add("directory", short_path(run.directory.path));
  add("last change", inspect::last_change(workspace));
  const auto facts = setup::shown_facts(run.metadata);
  for (const char* name : shown)
    if (const auto fact = facts.find(name); fact != facts.end())
      add(name, fact->second);
  text += "\n" + status_table(workspace.counts());
  std::string failures;
  for (const workspace::Workpackage& workpackage : workspace.workpackages())
    if (workpackage.state == workspace::State::failed)
      failures += fmt::format("workpackage {} ({}) failed: {}\n", workpackage.id, workpackage.step,
                              workpackage.reason);
    else if (workpackage.state == workspace::State::skipped)
      failures += fmt::format("workpackage {} ({}) was skipped: {}\n", workpackage.id,
                              workpackage.step, workpackage.reason);
  return text + failures;
}

}  // namespace bench::cli
