#include "command.hpp"
#include "runs.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/below.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {
namespace {

void check_log_name(const std::string& name) {
  const std::vector<std::string>& known = log_names();
  if (std::ranges::find(known, name) != known.end())
    return;
  throw Error(Id::usage, fmt::format("command '{}' does not write a log", name),
              suggestion(name, known));
}

void show_logs(const workspace::RunDirectory& run, const std::vector<std::string>& wanted) {
  for (const std::string& name : wanted.empty() ? log_names() : wanted) {
    const std::filesystem::path file = run.path / (name + ".log");
    if (const UniqueFd fd = open_below(run.path, file); fd.valid()) {
      print(fmt::format("==> {} <==\n", short_path(std::filesystem::absolute(file))));
      print_file(fd, file);
      print("\n");
    } else if (!wanted.empty())
      tell(fmt::format("note: run {} has no {}.log", run.id, name));
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
    return act_on_each(options->choice.runs(), [&](const workspace::RunDirectory& run) {
      show_logs(run, options->names);
      return 0;
    });
  };
}

}  // namespace bench::cli
