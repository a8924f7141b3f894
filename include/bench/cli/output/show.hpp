#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/results/report.hpp>
#include <bench/results/table.hpp>

namespace bench::cli {

/// What a user wants to see; of no effect on what is written.
struct ShowOptions {
  std::string style;  ///< Empty: each table's own.
  std::vector<std::string> select;
  std::vector<std::string> exclude;
  bool descending = false;  ///< By run.
  bool raw = false;         ///< Values in full, without the columns' formats.
  std::string where;        ///< Only rows for which it holds; empty: all.
  std::vector<std::string> sort;
  std::string file;  ///< To write to in place of standard output; empty: none.
};

/// The results of one run.
struct RunReport {
  long long id = 0;
  results::Report report;
  bool is_kept = false;  ///< Also written into the run, and sent.
};

/// Writes a `<name>.dat` for each table, in its own style with all of its columns.
void keep_tables(const results::Report& report, Failures& failures);

/// Sends messages to syslog and prints them, and writes rows into databases.
/// @param style in which tables are shown; messages do not come between what a program reads
void send(const results::Report& report, const std::string& style, Failures& failures);

/// Prints the tables; those of several runs as one per name. All that are json are one object. What
/// is said below a table for people goes to standard error beside csv and json. On a terminal that
/// is too narrow for a pretty table, it is shown a cell in each line.
/// @param runs ascending by id; their tables are taken
/// @param several_runs were asked for, however many could be read: their tables have a column `id`
/// @param failures of tables that cannot be shown; null: the first is thrown
/// @throws Error if several tables would be csv, which nobody could tell apart
void show(std::vector<RunReport>& runs, bool several_runs, const ShowOptions& options,
          Failures* failures = nullptr);

/// The same of one table.
/// @param style unless the options have one
void show(results::Table table, const std::string& style, const ShowOptions& options);

/// A table as it is shown.
struct ShownTable {
  results::Table table;
  const results::Style* style;
};

/// Prints the tables. All that are json are one object. What is said below a table for people goes
/// to standard error beside csv and json. On a terminal that is too narrow for a pretty table, it
/// is shown a cell in each line.
/// @param advice what to do about a table that is too wide; may be empty
/// @param failures of tables whose format does not fit; null: the first is thrown
void print_tables(std::vector<ShownTable> tables, const std::string& advice = "",
                  Failures* failures = nullptr);

/// Writes the tables into a file as `print_tables` prints them there: an empty line between two,
/// and none behind the last.
/// @throws Error if it cannot be written
void write_tables(std::vector<ShownTable> tables, const std::filesystem::path& file,
                  Failures* failures = nullptr);

}  // namespace bench::cli
