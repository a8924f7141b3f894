#pragma once

#include <string>
#include <utility>
#include <vector>

#include <bench/report/figures/figure.hpp>
#include <bench/report/page/library.hpp>
#include <bench/result/table.hpp>

namespace bench::report {

/// What a report says about one run.
struct RunSheet {
  std::string name;  ///< `scaling/000003`
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::vector<std::string>> states;  ///< A row per step; the first is of headings.
};

/// A table of a report.
struct ReportTable {
  result::Table table;
  std::string title;
};

/// All that a report shows.
struct Page {
  std::string title;
  std::string comment;
  std::string version;  ///< Of bench.
  std::vector<RunSheet> runs;
  std::vector<Figure> figures;
  std::vector<ReportTable> tables;
  result::Table failures;  ///< A row for each workpackage that failed or was skipped.
};

/// What a page shows first, runs and figures, as JSON; the same bytes for the same page.
std::string content_of(const Page& page);

/// The rest: tables, which may be large. Numbers have 9 significant digits.
/// @param licenses of the libraries that draw; shown at the end
std::string tables_of(const Page& page, const std::string& licenses);

/// The page as one HTML file that needs no other: style, scripts, libraries and data are in it. Its
/// Content-Security-Policy allows the scripts by their hashes, and no other, so that nothing of a
/// run is ever executed.
std::string html_of(const Page& page, const Library& library);

}  // namespace bench::report
