#include "run_content.hpp"

#include "run_index.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <bench/results/analyses.hpp>
#include <bench/results/tidy.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::pages {

using workspace::Workspace;

RunContent::RunContent(const workspace::RunDirectory& directory)
    : RunContent(directory, Workspace::open(directory.path, Workspace::Access::read)) {}

RunContent::RunContent(const workspace::RunDirectory& directory, Workspace workspace)
    : run_(space::load_run(directory, workspace)),
      analyses_(results::stored_analyses_of_each(run_, workspace)),
      tidy_(results::tidy(std::vector<results::TidyRun>{{run_, workspace, analyses_}})),
      view_(run_, workspace, std::move(tidy_.workpackages), std::move(tidy_.attempts)),
      is_analysed_(results::is_each_analysed(run_, workspace)) {}

bool RunContent::is_large() const {
  constexpr std::size_t largest_kept = 20'000;  // workpackages, about 2 kB each
  return view_.all().size() > largest_kept;
}

std::shared_ptr<const RunContent> RunContents::known(const std::string& stamp) {
  const std::lock_guard lock(mutex_);
  return stamp == large_stamp_ ? large_.lock() : recent_.find(stamp);
}

std::shared_ptr<const RunContent> RunContents::read(const workspace::RunDirectory& directory) {
  const std::string stamp = directory.path.string() + " " + stamp_of(directory.path);
  if (auto content = known(stamp))
    return content;
  const std::lock_guard reading(reading_);
  if (auto content = known(stamp))  // read meanwhile
    return content;
  // Not by make_shared, whose memory a weak pointer would keep.
  const std::shared_ptr<const RunContent> content(new RunContent(directory));
  const std::lock_guard lock(mutex_);
  if (content->is_large()) {
    large_stamp_ = stamp;
    large_ = content;
  } else {
    recent_.keep(stamp, content);
  }
  return content;
}

}  // namespace bench::pages
