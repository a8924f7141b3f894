#include "../command.hpp"

#include <filesystem>
#include <functional>
#include <memory>

#include <bench/cli/evaluation/evaluation.hpp>
#include <bench/cli/output/log_file.hpp>
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
    if (options->update.file.empty() && !options->update.tags.empty())
      tell("warning: --tag has no effect without --update");
    for (const auto& directory :
         workspace::select_runs(options->choice.directory, options->choice.ids)) {
      if (!workspace::is_made_by_jube(directory.path))
        command_log().open(directory.path, "analyse");
      analyse_directory(directory, options->update);
      print("analysed " + short_path(std::filesystem::absolute(directory.path)) + "\n");
    }
    return 0;
  };
}

}  // namespace bench::cli
