#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/run/make_run.hpp>
#include <bench/run/preview.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/input.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/space/variables.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::run {
namespace {

namespace fs = std::filesystem;

/// Takes a directory back in which no run came into being, unless a script has put something there.
class EmptyDirectoryGuard {
 public:
  EmptyDirectoryGuard(fs::path directory, bool outpath_is_new)
      : directory_(std::move(directory)), outpath_is_new_(outpath_is_new) {}
  EmptyDirectoryGuard(const EmptyDirectoryGuard&) = delete;
  EmptyDirectoryGuard& operator=(const EmptyDirectoryGuard&) = delete;
  ~EmptyDirectoryGuard() {
    if (workspace::is_run(directory_))
      return;
    std::error_code not_empty;
    for (const char* own : {"workspace.lock", "workspace.db.new", "workspace.db.new-journal"})
      fs::remove(directory_ / own, not_empty);
    fs::remove(directory_, not_empty);
    if (outpath_is_new_)
      fs::remove(directory_.parent_path(), not_empty);
  }

 private:
  fs::path directory_;
  bool outpath_is_new_;
};

}  // namespace

NewRun make_run(space::Run& run, const space::Request& request, Diagnostics& diagnostics,
                std::vector<std::string>& notices) {
  const fs::path outpath = run.directory.path.parent_path();
  const bool outpath_is_new = !fs::exists(outpath);
  run.directory = workspace::make_run_directory(outpath, request.id);
  const EmptyDirectoryGuard guard(run.directory.path, outpath_is_new);
  run.metadata.id = std::to_string(run.directory.id);
  evaluate::Evaluator evaluator = space::evaluator_of(run);
  space::Graph graph(run, {}, evaluator);
  const workspace::Events first{workspace::Expanded{.parents = {}, .children = graph.make_first()}};
  std::ranges::move(graph.take_notices(), std::back_inserter(notices));
  for (const Warning& warning : graph.take_warnings())
    diagnostics.warn(warning);
  check_ahead(run, graph, evaluator);
  // Nobody else may write from the moment on at which the run can be found.
  workspace::WriterLock lock(run.directory.path);
  auto workspace =
      workspace::Workspace::create(run.directory.path, space::facts_of(run.metadata), first);
  return {.lock = std::move(lock), .workspace = std::move(workspace)};
}

}  // namespace bench::run
