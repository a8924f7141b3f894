#include "run_content.hpp"

#include "run_index.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

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

namespace bench::pages {
namespace {

using workspace::Workspace;

Page report_of(const workspace::RunDirectory& directory, const RunContent& content) {
  const Workspace workspace = Workspace::open(directory.path, Workspace::Access::read);
  Diagnostics diagnostics;
  std::vector<results::Table> tables = tables_of(content, workspace, diagnostics);
  const bool is_without_tables = tables.empty();
  Gatherer gatherer;
  gatherer.add(content.run(), workspace, std::move(tables), {}, diagnostics);
  if (is_without_tables)
    gatherer.set_tidy(content.tidy().table);
  Page page = gatherer.build("");
  page.version = BENCH_VERSION;
  return page;
}

}  // namespace

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

std::vector<results::Table> tables_of(const RunContent& content, const Workspace& workspace,
                                      Diagnostics& diagnostics) {
  const space::Run& run = content.run();
  std::vector<results::Table> tables;
  for (results::FilledTable& filled :
       results::report(run, workspace, results::stored_analyses(run, workspace), {}, diagnostics,
                       results::Trust::foreign)
           .tables)
    tables.push_back(std::move(filled.table));
  return tables;
}

std::shared_ptr<const std::string> RunReports::page(const workspace::RunDirectory& directory,
                                                    const RunContent& content) {
  return read("page", directory,
              [&] { return html_of(report_of(directory, content), load_library()); });
}

std::shared_ptr<const std::string> RunReports::figures(const workspace::RunDirectory& directory,
                                                       const RunContent& content) {
  return read("figures", directory,
              [&] { return figures_of(report_of(directory, content).figures); });
}

std::shared_ptr<const std::string> RunReports::read(const char* kind,
                                                    const workspace::RunDirectory& directory,
                                                    const std::function<std::string()>& make) {
  const std::string stamp =
      fmt::format("{} {} {}", kind, directory.path.string(), stamp_of(directory.path));
  const std::lock_guard lock(mutex_);
  auto made = recent_.find(stamp);
  if (!made) {
    made = std::make_shared<const std::string>(make());
    recent_.keep(stamp, made);
  }
  return made;
}

}  // namespace bench::pages
