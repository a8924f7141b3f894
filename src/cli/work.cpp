#include "work.hpp"

#include "output.hpp"
#include "progress.hpp"
#include "show.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bench/base/files.hpp>
#include <bench/engine/loop.hpp>
#include <bench/engine/report.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::cli {

void declare(CLI::App& app, WorkOptions& options) {
  app.add_flag("-e,--exit", options.stop_at_error, "stop at the first failure");
  app.add_flag("-a,--analyse", options.analyse, "analyse afterwards");
  app.add_flag("-r,--result", options.result, "analyse and show the result afterwards");
  app.add_flag("--hide-animation", options.hide_animation, "no progress line");
}

int work_on(const engine::Run& run, workspace::Workspace& workspace, const WorkOptions& options) {
  print(heading(run) + "\n");
  engine::Standing standing;
  {
    Progress progress(options.hide_animation);
    standing = engine::work(
        run, workspace,
        {.stop_at_error = options.stop_at_error, .interrupted = &catch_interruptions()}, progress);
  }
  const bool finished = standing.open() == 0;
  print(status_table(standing.counts) + "\n" + closing(run, finished));
  if (standing.interrupted) {
    tell("interrupted: what ran here was ended and is open again; `bench continue` goes on");
    return 1;
  }
  if (options.stop_at_error && standing.failed() > 0)
    return 1;
  if (options.analyse || options.result)
    analyse(run, workspace);
  if (options.result) {
    print("\n");
    show_result(run, workspace, "");
  }
  return standing.failed() > 0 ? 1 : 0;
}

void analyse(const engine::Run& run, workspace::Workspace& workspace) {
  Diagnostics diagnostics;
  engine::store(engine::analyse_run(run, workspace, diagnostics), workspace);
  tell_warnings(diagnostics);
}

void show_result(const engine::Run& run, workspace::Workspace& workspace,
                 const std::string& style) {
  Diagnostics diagnostics;
  const engine::Report report =
      engine::report(run, workspace, engine::stored_analyses(run, workspace), {}, diagnostics);
  tell_warnings(diagnostics);
  keep(report);
  show({{.id = run.directory.id, .report = report}}, {.style = style});
}

}  // namespace bench::cli
