#pragma once

#include <optional>
#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/base/value.hpp>
#include <bench/result/format.hpp>

namespace bench::result {

/// One cell. Without a value and without a reason it is empty.
struct Cell {
  std::optional<Value> value;
  std::string format;         ///< Python format specification without its colon; empty: none.
  bool estimated = false;     ///< Shown as such.
  std::string absent_reason;  ///< Shown as `n/a`, the reason in a note below the table.
};

struct Heading {
  std::string title;      ///< Without the unit.
  std::string unit;       ///< Shown as `title[unit]`.
  int minimum_width = 0;  ///< In characters; of no effect in csv and in a transposed table.
  Place place;            ///< Of the column, for errors in its format.
  std::string name = {};  ///< Of the parameter or pattern behind the title.
};

/// A table ready to print: every row has one cell per heading.
struct Table {
  std::string name;
  std::vector<Heading> headings;
  std::vector<std::vector<Cell>> rows;
  std::string separator = ",";  ///< Of csv and aligned.
  bool transpose = false;
  std::vector<std::string> notes;  ///< Further lines below, for people.
};

enum class Style { csv, pretty, aligned, json, markdown };

/// @throws Error with the known styles if `word` is none of them
Style parse_style(const std::string& word);

/// The table as text, ending in a newline.
///
/// `csv`, `pretty` and `aligned` are JUBE's byte for byte (so csv quotes nothing and turns a
/// newline inside a cell into a blank). `markdown` is a GitHub table with the name above it. `json`
/// is an array of objects, title to value, null where there is none, with `TITLE_unit`,
/// `TITLE_absent` and `TITLE_estimated` members where they apply; formats and `transpose` do not
/// apply, numbers are numbers, except that `nan`, `inf` and `-inf`, which JSON lacks, are strings;
/// a second column of one title is `TITLE_2`.
///
/// A column whose every value is an estimate says `(estimated)` in its heading; where only some
/// are, the cells say so. Below `pretty`, `aligned` and `markdown` follow the notes: one line per
/// distinct reason, with the columns it concerns, one for the estimates, then those of the table:
///
///     n/a in energy_wh, power_mean_w: no power source: RAPL is readable by root only
///     (estimated) in power_max_w: from a model, not a measurement
///
/// @throws Error if a value does not fit its format (`.2f` of a text)
std::string render(const Table& table, Style style);

}  // namespace bench::result
