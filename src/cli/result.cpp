#include "command.hpp"
#include "output.hpp"
#include "work.hpp"

#include <memory>

#include <sys/stat.h>
#include <unistd.h>

#include <bench/engine/report.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::cli {
namespace {

using workspace::Workspace;
using Access = Workspace::Access;

void analyse_directory(const workspace::RunDirectory& directory) {
  const workspace::WriterLock lock(directory.path);
  Workspace workspace = Workspace::open(directory.path, Access::write);
  analyse(engine::load_run(directory, workspace), workspace);
}

/// Analysing executes script code of the benchmark: never that of another user's run.
bool is_own(const std::filesystem::path& directory) {
  struct stat info {};
  return ::stat(directory.c_str(), &info) == 0 && info.st_uid == ::geteuid() &&
         ::access(directory.c_str(), W_OK) == 0;
}

}  // namespace

std::function<int()> declare_analyse(CLI::App& app) {
  const auto choice = std::make_shared<RunChoice>();
  choice->declare(app);
  return [choice] {
    for (const auto& directory : workspace::select_runs(choice->directory, choice->ids)) {
      command_log().open(directory.path, "analyse");
      analyse_directory(directory);
      print("analysed " + short_path(std::filesystem::absolute(directory.path)) + "\n");
    }
    return 0;
  };
}

std::function<int()> declare_result(CLI::App& app) {
  struct Options {
    RunChoice choice;
    std::string style;
    bool analyse = false;
  };
  const auto options = std::make_shared<Options>();
  options->choice.declare(app);
  app.add_option("-s,--style", options->style, "csv, pretty, aligned, json or markdown")
      ->type_name("STYLE");
  app.add_flag("-a,--analyse", options->analyse, "analyse again, even if nothing has changed");
  return [options] {
    if (!options->style.empty())
      result::parse_style(options->style);
    for (const auto& directory :
         workspace::select_runs(options->choice.directory, options->choice.ids)) {
      command_log().open(directory.path, "result");
      Workspace workspace = Workspace::open(directory.path, Access::read);
      const engine::Run run = engine::load_run(directory, workspace);
      if (options->analyse || !engine::is_analysed(run, workspace)) {
        if (is_own(directory.path)) {
          analyse_directory(directory);
        } else {
          tell("note: this run is not yours, so it is shown as its owner last analysed it");
        }
      }
      show_result(run, workspace, options->style);
    }
    return 0;
  };
}

}  // namespace bench::cli
