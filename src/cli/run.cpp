#include "command.hpp"
#include "output.hpp"
#include "work.hpp"

#include <memory>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/engine/preview.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::cli {
namespace {

struct RunOptions {
  std::vector<std::string> files;
  std::vector<std::string> tags;
  engine::Request request;
  std::string comment;
  int id = -1;
  bool dry_run = false;
  bool strict = false;
  WorkOptions work;
};

std::string describe(const engine::Preview& one) {
  std::string text = fmt::format("{}  {}\n", one.workpackage.directory,
                                 parameters_text(one.workpackage.parameters));
  for (const std::string& command : one.commands)
    text += "    $ " + replace_all(command, "\n", "\n      ") + "\n";
  if (!one.script.empty())
    text += "    job script:\n    | " +
            replace_all(std::string(strip(one.script)), "\n", "\n    | ") + "\n";
  return text;
}

void tell_notices(const std::vector<std::string>& notices) {
  for (const std::string& notice : notices)
    tell("note: " + notice);
}

void show_preview(const engine::Run& run) {
  std::vector<std::string> notices;
  const auto previews = engine::preview(run, notices);
  std::vector<workspace::StepCounts> counts;
  for (const model::Step& step : run.benchmark.steps)
    counts.push_back({.step = step.name});
  for (const engine::Preview& one : previews) {
    print(describe(one));
    for (workspace::StepCounts& count : counts)
      if (count.step == one.workpackage.step)
        ++count.ready;
  }
  tell_notices(notices);
  for (const workspace::StepCounts& count : counts)
    print(fmt::format("step {}: {} workpackages\n", count.step, count.ready));
  print(fmt::format("platform {}; would run in {}; nothing was made or started\n",
                    run.platform.name, short_path(run.directory.path)));
}

int run_file(const RunOptions& options, const std::string& file) {
  engine::Request request = options.request;
  request.input_file = file;
  request.tags = {options.tags.begin(), options.tags.end()};
  if (!options.comment.empty())
    request.comment = options.comment;
  if (options.id >= 0)
    request.id = options.id;
  Diagnostics diagnostics(options.strict);
  const engine::Input input = engine::read_input(request, diagnostics);
  tell_warnings(diagnostics);
  int worst = 0;
  for (const model::Benchmark& benchmark : input.benchmarks) {
    engine::Run run = engine::plan_run(input, benchmark, request);
    if (options.dry_run) {
      show_preview(run);
      continue;
    }
    std::vector<std::string> notices;
    workspace::Workspace workspace = engine::make_run(run, request, notices);
    tell_notices(notices);
    const workspace::WriterLock lock(run.directory.path);
    worst = std::max(worst, work_on(run, workspace, options.work));
  }
  return worst;
}

}  // namespace

std::function<int()> declare_run(CLI::App& app) {
  const auto options = std::make_shared<RunOptions>();
  app.add_option("FILE", options->files, "input file")->required();
  app.add_option("-t,--tag", options->tags, "active tags; a platform's name selects the platform")
      ->type_name("TAG");
  app.add_option("-o,--outpath", options->request.outpath, "directory of the runs")
      ->type_name("DIR");
  app.add_option("--platform", options->request.platform, "machine to run on (platforms/*.yaml)")
      ->type_name("NAME");
  app.add_option("--power-source", options->request.power_source,
                 "how energy is measured, for example model:cpu=65W")
      ->type_name("SOURCE");
  app.add_option("-i,--id", options->id, "id of the run instead of the next free one")
      ->type_name("ID");
  app.add_option("-m,--comment", options->comment, "comment in place of the file's")
      ->type_name("TEXT");
  declare(app, options->work);
  app.add_flag("--dry-run", options->dry_run,
               "show combinations, commands and job scripts; make and start nothing");
  app.add_flag("--strict", options->strict, "treat warnings as errors");
  return [options] {
    int worst = 0;
    for (const std::string& file : options->files)
      worst = std::max(worst, run_file(*options, file));
    return worst;
  };
}

}  // namespace bench::cli
