#include "run_content.hpp"

#include "run_index.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <bench/setup/run.hpp>
#include <bench/tabulate/analyses.hpp>
#include <bench/tabulate/tidy.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::serve {

using workspace::Workspace;

RunContent::RunContent(const workspace::RunDirectory& directory)
    : RunContent(directory, Workspace::open(directory.path, Workspace::Access::read)) {}

RunContent::RunContent(const workspace::RunDirectory& directory, Workspace workspace)
    : run_(setup::load_run(directory, workspace)),
      analyses_(tabulate::stored_analyses_of_each(run_, workspace)),
      tidy_(tabulate::tidy(std::vector<tabulate::TidyRun>{{run_, workspace, analyses_}})),
      view_(run_, workspace, std::move(tidy_.workpackages), std::move(tidy_.attempts)),
      is_analysed_(tabulate::is_each_analysed(run_, workspace)) {}

std::shared_ptr<const RunContent> RunContents::read(const workspace::RunDirectory& directory) {
  constexpr std::size_t most_kept = 4;
  constexpr std::size_t largest_kept = 20'000;  // workpackages, about 2 kB each
  const std::string stamp = directory.path.string() + " " + stamp_of(directory.path);
  {
    const std::lock_guard lock(mutex_);
    const auto known = std::ranges::find(known_, stamp, &Known::stamp);
    if (known != known_.end()) {
      known_.splice(known_.begin(), known_, known);
      return known->content;
    }
  }
  auto content = std::make_shared<const RunContent>(directory);
  if (content->view().all().size() <= largest_kept) {
    const std::lock_guard lock(mutex_);
    known_.push_front({stamp, content});
    if (known_.size() > most_kept)
      known_.pop_back();
  }
  return content;
}

}  // namespace bench::serve
