#include "command.hpp"
#include "runs.hpp"

#include <functional>
#include <memory>
#include <string>

#include <fmt/core.h>

#include <bench/cli/output/output.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::cli {

std::function<int()> declare_comment(CLI::App& app) {
  struct Options {
    std::string text;
    RunChoice choice;
    bool append = false;
  };
  const auto options = std::make_shared<Options>();
  app.add_option("TEXT", options->text, "the new comment")->required();
  options->choice.declare(app);
  app.add_flag("-a,--append", options->append, "append to the comment, without a space");
  return [options] {
    return for_each_run(options->choice.runs(), [&](const workspace::RunDirectory& run) {
      const workspace::WriterLock lock(run.path);
      auto workspace = workspace::Workspace::open(run.path, workspace::Workspace::Access::write);
      const std::string before = options->append ? workspace.fact("comment") : "";
      workspace.set_fact("comment", before + options->text);
      print(fmt::format("run {}: {}\n", run.id, before + options->text));
    });
  };
}

}  // namespace bench::cli
