#include "command.hpp"
#include "output.hpp"

#include <array>
#include <memory>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::cli {
namespace {

using workspace::Workspace;
using Access = Workspace::Access;

std::string status_word(const std::vector<workspace::StepCounts>& counts) {
  bool failed = false;
  for (const workspace::StepCounts& step : counts) {
    if (step.ready + step.running + step.submitted > 0)
      return "RUNNING";
    failed |= step.failed > 0;
  }
  return failed ? "ERROR" : "FINISHED";
}

void show_overview(const std::string& directory) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& run : workspace::select_runs(directory, {"all"})) {
    const Workspace workspace = Workspace::open(run.path, Access::read);
    rows.push_back({std::to_string(run.id), workspace.fact("benchmark"), workspace.fact("started"),
                    status_word(workspace.counts()), workspace.fact("comment"),
                    workspace.fact("tags")});
  }
  print(text_table({"id", "name", "started", "status", "comment", "tags"}, rows));
}

/// Everything about one run that is not its table.
void show_run(const workspace::RunDirectory& directory) {
  const Workspace workspace = Workspace::open(directory.path, Access::read);
  constexpr std::array shown{"benchmark",    "comment",      "started",       "tags",
                             "platform",     "power_source", "input_file",    "input_sha256",
                             "git_revision", "host",         "system",        "cpu",
                             "cpus_usable",  "memory_bytes", "gpus",          "gpu_driver",
                             "modules",      "environment",  "bench_version", "uuid"};
  print(fmt::format("{:>14}: {}\n", "directory",
                    short_path(std::filesystem::absolute(directory.path))));
  const auto facts = workspace.facts();
  for (const char* name : shown)
    if (const auto fact = facts.find(name); fact != facts.end() && !fact->second.empty())
      print(fmt::format("{:>14}: {}\n", name,
                        replace_all(fact->second, "\n", "\n" + std::string(16, ' '))));
  print("\n" + status_table(workspace.counts()));
  for (const workspace::Workpackage& workpackage : workspace.workpackages())
    if (workpackage.state == workspace::State::failed)
      print(fmt::format("workpackage {} ({}) failed: {}\n", workpackage.id, workpackage.step,
                        workpackage.reason));
}

void show_step(const workspace::RunDirectory& directory, const std::string& step) {
  const Workspace workspace = Workspace::open(directory.path, Access::read);
  std::vector<std::vector<std::string>> rows;
  for (const workspace::Workpackage& workpackage : workspace.workpackages()) {
    if (workpackage.step != step)
      continue;
    rows.push_back({std::to_string(workpackage.id), std::to_string(workpackage.iteration),
                    std::string(workspace::name_of(workpackage.state)),
                    std::to_string(workpackage.attempts), parameters_text(workpackage.parameters),
                    workpackage.reason});
  }
  if (rows.empty())
    throw Error(fmt::format("step '{}' has no workpackage in this run", step));
  print(text_table({"id", "iteration", "state", "attempts", "parameters", "reason"}, rows));
}

}  // namespace

std::function<int()> declare_info(CLI::App& app) {
  struct Options {
    RunChoice choice;
    std::string step;
  };
  const auto options = std::make_shared<Options>();
  options->choice.declare(app);
  app.add_option("-s,--step", options->step, "list the workpackages of a step")->type_name("STEP");
  return [options] {
    if (options->choice.ids.empty() && options->step.empty()) {
      show_overview(options->choice.directory);
      return 0;
    }
    for (const auto& run : workspace::select_runs(options->choice.directory, options->choice.ids))
      if (options->step.empty())
        show_run(run);
      else
        show_step(run, options->step);
    return 0;
  };
}

std::function<int()> declare_status(CLI::App& app) {
  const auto choice = std::make_shared<RunChoice>();
  choice->declare(app);
  return [choice] {
    for (const auto& run : workspace::select_runs(choice->directory, choice->ids))
      print(status_word(Workspace::open(run.path, Access::read).counts()) + "\n");
    return 0;
  };
}

}  // namespace bench::cli
