#include "reports.hpp"

#include "pages.hpp"
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
#include <bench/pages/gather.hpp>
#include <bench/pages/library.hpp>
#include <bench/pages/page.hpp>
#include <bench/pages/site.hpp>
#include <bench/results/analyses.hpp>
#include <bench/results/filters.hpp>
#include <bench/results/report.hpp>
#include <bench/results/table.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::serve {
namespace {

using workspace::Workspace;

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

PageResponse report_page(PageContext& context, const RunSummary& run, const PageRequest&) {
  const auto content = context.contents.read(run.directory);
  return {.content = *context.reports.read(run.directory, *content), .is_document = true};
}

}  // namespace bench::serve
