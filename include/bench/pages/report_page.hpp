#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <bench/pages/figure.hpp>
#include <bench/results/table.hpp>

namespace bench::pages {

/// The files that make up a report.
struct Library {
  std::string page;      ///< HTML with placeholders `{{name}}`.
  std::string style;     ///< CSS.
  std::string script;    ///< JavaScript of the page.
  std::string vega;      ///< Vega, Vega-Lite and the interpreter of their expressions.
  std::string licenses;  ///< Of those.
};

/// Searches for the files in the user's and the site's directories (`report/` beside `platforms/`),
/// then beside the program. @throws Error if one is missing; for Vega, the hint says how to get it
Library load_library();

/// A file that pages are made of, from the first that has it of the user's and the site's
/// directories (`report/` beside `platforms/`) and the one beside the program.
/// @throws Error if there is none; for Vega, the hint says how to get it
std::filesystem::path path_of(const std::string& name);

/// The script of a page, behind those that draw figures and tables.
std::string script_with(const char* page_script);

/// Draws the figures of a report into files `<id>.svg`, and `<id>.png` if rsvg-convert is
/// installed.
/// @param content from `content_of`
/// @returns the files that were written, sorted
/// @throws Error if there is no Node.js, or it fails
std::vector<std::filesystem::path> draw_figures(const std::string& content,
                                                const std::filesystem::path& directory);

/// The section of a report about one run.
struct RunSheet {
  std::string name;  ///< `scaling/000003`
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::vector<std::string>> states;  ///< A row per step, after a row of headings.
};

/// A table of a report.
struct ReportTable {
  results::Table table;
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
  results::Table failures;  ///< A row for each workpackage that failed or was skipped.
};

/// The part that a page shows first, runs and figures, as JSON. Equal pages give equal bytes.
std::string content_of(const Page& page);

/// Figures alone, as in `content_of`, and notes below them.
std::string figures_of(const std::vector<Figure>& figures,
                       const std::vector<std::string>& notes = {});

/// The tables as JSON, which may be large. Numbers have 9 significant digits. @param licenses of
/// the drawing libraries; shown at the end
std::string tables_of(const Page& page, const std::string& licenses);

/// The page as one self-contained HTML file with style, scripts, libraries and data. Its
/// Content-Security-Policy allows only these scripts, by their hashes, so that no content of a run
/// is ever executed.
std::string html_of(const Page& page, const Library& library);

}  // namespace bench::pages
