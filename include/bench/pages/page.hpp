#pragma once

#include <string>
#include <utility>
#include <vector>

#include <bench/pages/figure.hpp>
#include <bench/pages/library.hpp>
#include <bench/results/table.hpp>

namespace bench::report {

/// The section of a report about one run.
struct RunSheet {
  std::string name;  ///< `scaling/000003`
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::vector<std::string>> states;  ///< A row per step, after a row of headings.
};

/// A table of a report.
struct ReportTable {
  result::Table table;
  std::string title;
};

/// The whole content of a report.
struct Page {
  std::string title;
  std::string comment;
  std::string version;  ///< Of bench.
  std::vector<RunSheet> runs;
  std::vector<Figure> figures;
  std::vector<ReportTable> tables;
  result::Table failures;  ///< A row for each workpackage that failed or was skipped.
};

/// The part that a page shows first, runs and figures, as JSON. Equal pages give equal bytes.
std::string content_of(const Page& page);

/// The tables as JSON, which may be large. Numbers have 9 significant digits. @param licenses of
/// the drawing libraries; shown at the end
std::string tables_of(const Page& page, const std::string& licenses);

/// The page as one self-contained HTML file with style, scripts, libraries and data. Its
/// Content-Security-Policy allows only these scripts, by their hashes, so that no content of a run
/// is ever executed.
std::string html_of(const Page& page, const Library& library);

}  // namespace bench::report
