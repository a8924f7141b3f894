#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bench::report {

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

/// Draws the figures of a report into files `<id>.svg`, and `<id>.png` if rsvg-convert is
/// installed.
/// @param content from `content_of`
/// @returns the files that were written, sorted
/// @throws Error if there is no Node.js, or it fails
std::vector<std::filesystem::path> draw_figures(const std::string& content,
                                                const std::filesystem::path& directory);

}  // namespace bench::report
