#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/base/value.hpp>

namespace bench::results {

/// What several iterations say that are one row.
struct Spread {
  double median = 0;
  double low = 0;  ///< Ends of the 95 % confidence interval of the median.
  double high = 0;
  std::vector<double> numbers = {};  ///< Of the iterations.
  std::vector<long long> outliers;   ///< The workpackages whose values are.
};

/// One cell. Without a value it is missing: `n/a` for people, empty in csv, null in json.
struct Cell {
  std::optional<Value> value;
  std::string format;            ///< Python format specification without its colon; empty: none.
  std::string absent_reason;     ///< Why it is missing, shown in a note below the table.
  bool estimated = false;        ///< Shown as such.
  bool is_wide_integer = false;  ///< The value is the digits of an integer beyond 64 bits.
  bool is_baseline = false;      ///< Calculated, and the row is its own baseline.
  bool is_calculated = false;    ///< By bench: without a format, people see its `short_text`.
  /// Where the value is the median of several that differ: how well it is known. For people.
  std::shared_ptr<const Spread> spread = nullptr;
};

struct Heading {
  std::string title;      ///< Without the unit.
  std::string unit;       ///< Shown as `title[unit]`.
  int minimum_width = 0;  ///< In characters; of no effect in a transposed table.
  Place place;            ///< Of the column, for errors in its format.
  std::string name = {};  ///< Of the parameter or pattern behind the title.
  /// What it is among published numbers, if that is said: `metric`, `metric[unit]`, `none`.
  std::string compare = {};
};

/// A workpackage behind a row that failed, was skipped or has not ended.
struct NotDone {
  long long workpackage = 0;
  bool failed = false;
  std::string reason;  ///< Why it failed or was skipped.
  bool skipped = false;
};

/// What people should know of the values of a row.
struct Remark {
  std::string what;  ///< `too short`, `not quiet`, `time: 4 of 5 iterations have a value`.
  std::vector<long long> workpackages;
  std::string reason;
};

/// The workpackages that a row is made of.
struct RowSource {
  std::optional<long long> run;   ///< In a table of several runs.
  std::size_t iterations = 1;     ///< Reduced to the row.
  std::size_t done = 1;           ///< Of these; where there are any, only they count.
  std::vector<NotDone> not_done;  ///< Those of the row and of its ancestors.
  std::vector<Remark> remarks = {};
  /// The number of the row that a line of a distribution is part of; none: it is a row of its own.
  std::optional<std::size_t> row = {};
};

/// A table ready to print: every row has one cell per heading.
struct Table {
  std::string name;
  std::vector<Heading> headings;
  std::vector<std::vector<Cell>> rows;
  std::vector<RowSource> sources;  ///< Of each row; empty where rows are not workpackages.
  std::string separator = ",";     ///< Of csv and aligned.
  bool transpose = false;
  std::vector<std::string> notes;  ///< Further lines below, for people.
};

/// A table of this name with these titles and without rows.
inline Table table_with(std::string name, std::initializer_list<const char*> titles) {
  Table table;
  table.name = std::move(name);
  for (const char* title : titles)
    table.headings.push_back({.title = title, .name = title});
  return table;
}

inline Cell text_cell(std::string text) {
  return {.value = std::move(text)};
}

inline Cell count_cell(std::size_t count) {
  return {.value = static_cast<long long>(count)};
}

enum class Notes { below, none };

/// The table as text, ending in a newline.
///
/// `csv`, `pretty` and `aligned` are JUBE's byte for byte, except that csv quotes a cell that holds
/// the separator, a quote or a carriage return (RFC 4180), that `pretty` drops newlines at the end
/// of a cell, and that `pretty` and `aligned` show `n/a` where a value is missing. `markdown` is a
/// GitHub table with the name above it.
///
/// A column whose every value is an estimate says `(estimated)` in its heading; where only some
/// are, the cells say so. Below `pretty`, `aligned` and `markdown` follow the notes.
///
/// @throws Error for an unknown style, and if a value does not fit its format (`.2f` of a text)
std::string render(const Table& table, const std::string& style, Notes notes = Notes::below);

/// The tables as one json object: name to array of rows, each an object of title to value. Numbers
/// are numbers, without formats; null stands for a missing value, `nan` and `inf`; integers beyond
/// 64 bits are strings. `TITLE_unit`, `TITLE_absent` (why there is none) and `TITLE_estimated` are
/// there where they apply, `status` (done, failed, skipped, unfinished) in every row with a source,
/// and `status_reason` where it is not done. A second member of one name is `NAME_2`:
/// a column keeps its title before what is said about another one.
std::string render_json(std::span<const Table> tables);

/// A pretty table with a line for each cell, a block for each row: for tables that are wider than
/// the terminal.
std::string render_vertical(const Table& table);

/// Columns of a terminal that the table takes in the style pretty.
std::size_t pretty_width(const Table& table);

/// What is said below a table: why values are missing, which rows have workpackages that failed or
/// have not ended, what is estimated, the table's own notes. Equal reasons are one line:
///
///     n/a in energy_wh, power_mean_w: no power sensor
///     n/a in v: 50 rows, workpackages 10-59: exit code 1
///     failed: 2 rows, workpackages 3, 7: exit code 2
///     4 of 5 iterations count: 1 row, workpackage 12: exit code 1
///     time: 4 of 5 iterations have a value: 1 row, workpackage 3: no match in stdout
///     not quiet: 1 row, workpackage 4: CPUs used by other programs: 1.0 of 2
///     (estimated) in power_max_w: from a model, not a measurement
std::vector<std::string> notes_of(const Table& table);

/// What is said below a table that shows spreads:
///
///     ± in time: median of the iterations and its 95 % confidence interval
///     * in time: outlier among the iterations: workpackage 12
std::vector<std::string> notes_of_spreads(const Table& table);

/// Why a row is not done, in one sentence; empty where it is.
std::string status_reason(const RowSource& source);

/// `text` as a field of csv: quoted where it must be (RFC 4180).
std::string csv_field(const std::string& text, const std::string& separator);

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

/// Text of anybody's as HTML, also between quotes: a browser executes nothing of it. Control
/// characters are shown.
std::string html_text(std::string_view text);

/// The element `table`: what the style html puts on a page. Numbers have the class `n`.
/// @throws Error if a value does not fit its format
std::string html_table(const Table& table);

}  // namespace bench::results
