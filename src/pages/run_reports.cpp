#include "run_reports.hpp"

#include "report_json.hpp"
#include "run_content.hpp"
#include "run_index.hpp"

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
