#include "run_content.hpp"

#include "run_index.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/pages/report_gather.hpp>
#include <bench/pages/report_page.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/filters.hpp>
#include <bench/results/report.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/space/run.hpp>
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

std::shared_ptr<const RunContent> RunContents::known(const std::string& stamp) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(known_, stamp, &Known::stamp);
  if (found == known_.end())
    return stamp == large_stamp_ ? large_.lock() : nullptr;
  known_.splice(known_.begin(), known_, found);
  return found->content;
}

std::shared_ptr<const RunContent> RunContents::read(const workspace::RunDirectory& directory) {
  constexpr std::size_t most_kept = 4;
  constexpr std::size_t largest_kept = 20'000;  // workpackages, about 2 kB each
  const std::string stamp = directory.path.string() + " " + stamp_of(directory.path);
  if (auto content = known(stamp))
    return content;
  const std::lock_guard reading(reading_);
  if (auto content = known(stamp))  // read meanwhile
    return content;
  // Not by make_shared, whose memory a weak pointer would keep.
  const std::shared_ptr<const RunContent> content(new RunContent(directory));
  const std::lock_guard lock(mutex_);
  if (content->view().all().size() > largest_kept) {
    large_stamp_ = stamp;
    large_ = content;
    return content;
  }
  known_.push_front({stamp, content});
  if (known_.size() > most_kept)
    known_.pop_back();
  return content;
}

namespace {

std::string report_of(const workspace::RunDirectory& directory, const RunContent& content) {
  const Workspace workspace = Workspace::open(directory.path, Workspace::Access::read);
  const setup::Run& run = content.run();
  Diagnostics diagnostics;
  std::vector<result::Table> tables;
  for (tabulate::FilledTable& filled :
       tabulate::report(run, workspace, tabulate::stored_analyses(run, workspace), {}, diagnostics,
                        tabulate::Trust::foreign)
           .tables)
    tables.push_back(std::move(filled.table));
  report::Gatherer gatherer;
  const bool is_without_tables = tables.empty();
  gatherer.add(run, workspace, std::move(tables), {}, diagnostics);
  if (is_without_tables)
    gatherer.set_tidy(content.tidy().table);
  report::Page page = gatherer.build("");
  page.version = BENCH_VERSION;
  return report::html_of(page, report::load_library());
}

}  // namespace

std::shared_ptr<const std::string> Reports::read(const workspace::RunDirectory& directory,
                                                 const RunContent& content) {
  constexpr std::size_t most_kept = 4;
  const std::string stamp = directory.path.string() + " " + stamp_of(directory.path);
  const std::lock_guard lock(mutex_);  // one at a time: each needs a lot of memory
  const auto known = std::ranges::find(known_, stamp, &Known::stamp);
  if (known != known_.end()) {
    known_.splice(known_.begin(), known_, known);
    return known->html;
  }
  auto html = std::make_shared<const std::string>(report_of(directory, content));
  known_.push_front({stamp, html});
  if (known_.size() > most_kept)
    known_.pop_back();
  return html;
}

}  // namespace bench::serve
