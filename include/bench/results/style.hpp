#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench::result {

/// How tables are written: what those who show and keep them need to know of a style.
struct Style {
  std::string_view name;
  std::string_view ending = "";  ///< Of the names of files in it; empty: any.
  /// Programs read it: what is said below a table goes elsewhere.
  bool is_for_programs = false;
  bool is_for_one_table = false;  ///< Nobody could tell several apart.
  bool is_text = true;            ///< A terminal can show it.
  bool joins_tables = false;      ///< Several are one text.
  bool may_be_vertical = false;   ///< Shown a cell in each line where a terminal is too narrow.
  bool has_notes_in_files = true;
  bool may_precede_blank_line = true;  ///< Not of JSON Lines, whose readers refuse one.
  bool shows_spreads = false;          ///< Of iterations, behind their median.
};

enum class Styles { text, all };
std::vector<std::string> style_names(Styles styles);

/// @throws Error with the known styles if `name` is none of them
const Style& style_of(const std::string& name);

/// The style that the ending of a file says; empty without an ending, and for `.txt`.
/// @throws Error with the known endings for another one
std::string style_of_file(const std::string& file);

}  // namespace bench::result
