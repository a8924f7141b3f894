#include "command.hpp"
#include "runs.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::cli {
namespace {

namespace fs = std::filesystem;

void check_log_name(const std::string& name) {
  const std::vector<std::string>& known = log_names();
  if (std::ranges::find(known, name) != known.end())
    return;
  throw Error(Id::usage, fmt::format("command '{}' does not write a log", name),
              suggestion(name, known));
}

void show_logs(const workspace::RunDirectory& run, const std::vector<std::string>& wanted) {
  for (const std::string& name : wanted.empty() ? log_names() : wanted) {
    const fs::path file = run.path / (name + ".log");
    if (const UniqueFd fd = open_below(run.path, file); fd.valid()) {
      print(fmt::format("==> {} <==\n", short_path(fs::absolute(file))));
      print_file(fd, file);
      print("\n");
    } else if (!wanted.empty())
      tell(fmt::format("note: run {} has no {}.log", run.id, name));
  }
}

struct OutputOptions {
  RunChoice choice;
  std::vector<std::string> steps;
  std::vector<long long> workpackages;
  std::string only;
  bool display = false;
};

/// @throws Error for a step or a workpackage that the run does not have
void check_selection(const OutputOptions& options, const space::Run& run,
                     const insight::RunView& view) {
  for (const std::string& step : options.steps)
    check_step(run, step);
  for (const long long id : options.workpackages)
    view.at(id);
}

template <class Value>
bool selects(const std::vector<Value>& wanted, const Value& value) {
  return wanted.empty() || std::ranges::find(wanted, value) != wanted.end();
}

void list_output(const workspace::RunDirectory& directory, const OutputOptions& options) {
  using workspace::Workspace;
  Workspace workspace = Workspace::open(directory.path, Workspace::Access::read);
  const space::Run run = space::load_run(directory, workspace);
  const insight::RunView view(run, workspace);
  check_selection(options, run, view);
  std::set<fs::path> files;  // those of a shared command belong to several workpackages
  for (const workspace::Workpackage& workpackage : view.all()) {
    if (!selects(options.steps, workpackage.step) || !selects(options.workpackages, workpackage.id))
      continue;
    for (const bool standard_error : {false, true})
      if (options.only.empty() || options.only == (standard_error ? "stderr" : "stdout"))
        for (const fs::path& file : view.output_files(workpackage, standard_error))
          files.insert(file);
  }
  for (const fs::path& file : files)
    if (!options.display) {
      print(file.string() + "\n");
    } else if (const UniqueFd fd = space::open_output(run, file); fd.valid()) {
      print(fmt::format("==> {} <==\n", file.string()));
      print_file(fd, file);
      print("\n");
    }
}

}  // namespace

std::function<int()> declare_log(CLI::App& app) {
  struct Options {
    RunChoice choice;
    std::vector<std::string> names;
  };
  const auto options = std::make_shared<Options>();
  options->choice.declare(app);
  app.add_option("-c,--command", options->names,
                 "only the logs of these: " + join(log_names(), ", "))
      ->type_name("NAME");
  return [options] {
    std::ranges::for_each(options->names, check_log_name);
    return for_each_run(options->choice.runs(), [&](const workspace::RunDirectory& run) {
      show_logs(run, options->names);
    });
  };
}

std::function<int()> declare_output(CLI::App& app) {
  const auto options = std::make_shared<OutputOptions>();
  options->choice.declare(app);
  app.add_option("-s,--step", options->steps, "only of these steps")->type_name("STEP");
  app.add_option("-w,--workpackage", options->workpackages, "only of these workpackages")
      ->type_name("WP");
  app.add_flag("-d,--display", options->display, "show the contents of the files");
  app.add_option("-o,--only", options->only, "only stdout or only stderr")
      ->check(CLI::IsMember({"stdout", "stderr"}));
  return [options] {
    return for_each_run(options->choice.runs(),
                        [&](const workspace::RunDirectory& run) { list_output(run, *options); });
  };
}

}  // namespace bench::cli
