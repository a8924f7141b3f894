#include "command.hpp"
#include "evaluation.hpp"
#include "references.hpp"
#include "runs.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/pages/report_gather.hpp>
#include <bench/pages/report_page.hpp>
#include <bench/results/report.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::cli {
namespace {

namespace fs = std::filesystem;
using workspace::RunDirectory;

struct ReportOptions {
  std::vector<std::string> directories;
  ShownRuns runs;  ///< In each of them.
  std::string file;
  std::string title;
  std::optional<std::string> reference;  ///< None: nothing is compared.
  std::string figures;                   ///< A directory; empty: none.
};

bool has_tables(const model::Benchmark& benchmark) {
  return std::ranges::any_of(benchmark.results,
                             [](const model::Result& result) { return !result.tables.empty(); });
}

std::vector<results::Table> tables_of(const Evaluated& one, const space::Run& run) {
  std::vector<results::Table> tables;
  for (results::FilledTable& filled : report_of(one, run).tables)
    tables.push_back(std::move(filled.table));
  return tables;
}

std::vector<results::Table> compared_tables(const Evaluated& one, PublishedComparison& comparison) {
  space::Run run = one.run;
  PublishedComparison::add_conditions(run.benchmark);
  results::Report ours;
  for (results::Table& table : tables_of(one, run))
    ours.tables.push_back({.table = std::move(table),
                           .style = "pretty",
                           .result_directory = {},
                           .run_directory = {}});
  std::vector<results::Table> compared;
  for (results::FilledTable& filled : comparison.compared(one, ours).tables)
    compared.push_back(std::move(filled.table));
  return compared;
}

/// Names of outpaths, without the directories above; of those that share one, later ones have a
/// number.
class OutpathNames {
 public:
  std::string of(const fs::path& outpath) {
    const std::string name = outpath.filename().string();
    std::vector<fs::path>& known = known_[name];
    auto found = std::ranges::find(known, outpath);
    if (found == known.end())
      found = known.insert(known.end(), outpath);
    const auto position = found - known.begin();
    return position == 0 ? name : fmt::format("{} ({})", name, position + 1);
  }

 private:
  std::map<std::string, std::vector<fs::path>> known_;
};

/// @param worst becomes 1 after an error in one of several runs
pages::Page page_of(const ReportOptions& options, int& worst) {
  std::optional<PublishedComparison> comparison;
  if (options.reference)
    comparison.emplace(*options.reference);
  allow_many_open_runs();
  pages::Gatherer gatherer;
  std::deque<Evaluated> runs;  // tidy tables refer to them
  std::vector<results::TidyRun> without_tables;
  OutpathNames outpaths;
  Diagnostics diagnostics = telling_diagnostics();
  const auto add = [&](const RunDirectory& directory) {
    Evaluated one = evaluate(directory, options.runs.update, false);
    const bool is_without = !has_tables(one.run.benchmark);
    if (is_without)
      one = evaluate(directory, options.runs.update, false, Found::in_workpackages);
    gatherer.add(one.run, one.workspace, tables_of(one, one.run),
                 comparison ? compared_tables(one, *comparison) : std::vector<results::Table>(),
                 diagnostics);
    if (!is_without)
      return;
    const Evaluated& kept = runs.emplace_back(std::move(one));
    without_tables.push_back({kept.run, kept.workspace, kept.analyses,
                              outpaths.of(fs::canonical(directory.path).parent_path())});
  };
  const std::vector<RunDirectory> chosen = options.runs.in(options.directories, worst);
  worst = std::max(worst, for_each_run(chosen, add));
  if (comparison)
    comparison->check_any();
  if (!without_tables.empty())
    gatherer.set_tidy(results::tidy(without_tables).table);
  pages::Page page = gatherer.build(options.title);
  page.version = BENCH_VERSION;
  return page;
}

/// Overwrites only an earlier report.
void check_replaceable(const fs::path& file) {
  std::error_code absent;
  if (!fs::exists(file, absent))
    return check_files_can_be_made(fs::absolute(file).parent_path());
  if (fs::is_directory(file, absent))
    throw Error(Id::unusable_file, fmt::format("{} is a directory", file.string()),
                "--output FILE");
  constexpr std::size_t bytes_of_the_head = 4096;
  const std::string text = read_file(file).substr(0, bytes_of_the_head);
  if (!text.empty() &&
      text.find("name=\"generator\" content=\"bench report\"") == std::string::npos)
    throw Error(Id::exists, fmt::format("{} exists and is not a report", file.string()),
                "choose another file with --output FILE, or remove it");
}

int write_report(ReportOptions options) {
  if (options.directories.empty())
    options.directories = {"."};
  const pages::Library library = pages::load_library();
  if (options.file.empty())
    options.file = "report.html";
  if (options.figures.empty())
    check_replaceable(options.file);
  int worst = 0;
  const pages::Page page = page_of(options, worst);
  if (page.runs.empty())
    return worst;
  if (!options.figures.empty()) {
    const auto files = pages::draw_figures(content_of(page), options.figures);
    for (const fs::path& file : files)
      print(file.string() + "\n");
    if (files.empty())
      tell("note: no numbers in these runs vary with a parameter, so there is no figure");
    return worst;
  }
  const std::string html = html_of(page, library);
  write_output(options.file, html);
  print(fmt::format("{}: {}, {}, {} ({:.1f} MB)\n", options.file, plural(page.runs.size(), "run"),
                    plural(page.figures.size(), "figure"), plural(page.tables.size(), "table"),
                    static_cast<double>(html.size()) / 1e6));
  return worst;
}

}  // namespace

std::function<int()> declare_report(CLI::App& app) {
  const auto options = std::make_shared<ReportOptions>();
  app.add_option("RUN", options->directories,
                 "run directories, or outpaths (the last run of each); default: the current "
                 "directory");
  options->runs.declare(app);
  CLI::Option* const output =
      app.add_option("--output", options->file, "the HTML file; default: report.html")
          ->type_name("FILE");
  CLI::Option* const title = app.add_option("--title", options->title,
                                            "title of the report; default: the benchmark's name")
                                 ->type_name("TEXT");
  app.add_option("--compare", options->reference,
                 "compare with published numbers, as `bench result --compare` does")
      ->type_name("REFERENCE");
  app.add_option("--figures", options->figures,
                 "instead of the report, write its figures to this directory: as SVG (needs "
                 "Node.js), and as PNG if rsvg-convert is installed")
      ->type_name("DIR")
      ->excludes(output)
      ->excludes(title);
  return [options] { return write_report(*options); };
}

}  // namespace bench::cli
