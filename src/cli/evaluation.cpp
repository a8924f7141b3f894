#include "evaluation.hpp"

#include "output.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bench/engine/update.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::cli {
namespace {

using workspace::RunDirectory;
using workspace::Workspace;
using workspace::WriterLock;
using Access = Workspace::Access;

bool is_own(const std::filesystem::path& directory) {
  struct stat info {};
  return ::stat(directory.c_str(), &info) == 0 && info.st_uid == ::geteuid() &&
         ::access(directory.c_str(), W_OK) == 0;
}

engine::Analyses analyse_telling(const engine::Run& run, const Workspace& workspace) {
  Diagnostics diagnostics;
  auto analyses = engine::analyse_run(run, workspace, diagnostics);
  tell_warnings(diagnostics);
  return analyses;
}

/// The caller holds the writer lock.
void analyse_and_store(const RunDirectory& directory, const UpdateOptions& update) {
  Workspace workspace = Workspace::open(directory.path, Access::write);
  const engine::Run run = update.applied_to(engine::load_run(directory, workspace));
  const engine::Analyses analyses = analyse_telling(run, workspace);
  if (!update.file.empty())
    engine::store_evaluation(run, workspace);
  engine::store(analyses, workspace);
}

}  // namespace

void UpdateOptions::declare(CLI::App& app) {
  app.add_option("-u,--update", file, "take patterns, analysers and results from this input file")
      ->type_name("FILE");
  app.add_option("-t,--tag", tags, "tags for that file, beside those of the run")->type_name("TAG");
  app.add_option("--include-path", include_path, "where that file's includes are looked for first")
      ->type_name("DIR");
}

engine::Run UpdateOptions::applied_to(const engine::Run& run) const {
  if (file.empty())
    return run;
  Diagnostics diagnostics;
  engine::Request request;
  request.input_file = file;
  request.tags = {tags.begin(), tags.end()};
  request.include_path.assign(include_path.begin(), include_path.end());
  engine::Run updated = engine::with_updated_evaluation(run, std::move(request), diagnostics);
  tell_warnings(diagnostics);
  return updated;
}

void analyse_directory(const RunDirectory& directory, const UpdateOptions& update) {
  const WriterLock lock(directory.path);
  analyse_and_store(directory, update);
}

Evaluated evaluate(const RunDirectory& directory, const UpdateOptions& update, bool analyse_again) {
  Workspace workspace = Workspace::open(directory.path, Access::read);
  engine::Run run = engine::load_run(directory, workspace);
  Evaluated evaluated{std::move(run), std::move(workspace), {}, is_own(directory.path)};
  const bool needed = analyse_again || !update.file.empty() ||
                      !engine::is_analysed(evaluated.run, evaluated.workspace);
  if (needed && evaluated.own) {
    if (const auto lock = WriterLock::take_if_free(directory.path)) {
      analyse_and_store(directory, update);
      evaluated.run = engine::load_run(directory, evaluated.workspace);
    } else {
      tell("note: another bench works on this run, so this analysis is shown and not kept");
      evaluated.run = update.applied_to(evaluated.run);
      evaluated.analyses = analyse_telling(evaluated.run, evaluated.workspace);
      return evaluated;
    }
  } else if (needed) {
    tell("note: this run is not yours, so it is shown as its owner last analysed it");
    evaluated.run = update.applied_to(evaluated.run);
  }
  evaluated.analyses = engine::stored_analyses(evaluated.run, evaluated.workspace);
  return evaluated;
}

}  // namespace bench::cli
