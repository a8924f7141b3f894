#include "command.hpp"
#include "evaluation.hpp"
#include "runs.hpp"

#include <filesystem>
#include <functional>
#include <memory>

#include <bench/cli/output/output.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {

std::function<int()> declare_analyse(CLI::App& app) {
  struct Options {
    RunChoice choice;
    Update update;
  };
  const auto options = std::make_shared<Options>();
  options->choice.declare(app);
  declare_update(app, options->update, update_of_results);
  return [options] {
    warn_of_idle(options->update);
    return act_on_each(options->choice.runs(), [&](const workspace::RunDirectory& directory) {
      if (!workspace::is_made_by_jube(directory.path))
        command_log().open(directory.path, "analyse");
      analyse_directory(directory, options->update);
      print("analysed " + short_path(std::filesystem::absolute(directory.path)) + "\n");
      return 0;
    });
  };
}

}  // namespace bench::cli
