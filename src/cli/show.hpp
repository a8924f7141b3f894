#pragma once

#include <string>
#include <vector>

#include <bench/engine/report.hpp>

namespace bench::cli {

/// What a user wants to see; of no effect on what is written.
struct ShowOptions {
  std::string style;  ///< Empty: each table's own.
  std::vector<std::string> select;
  std::vector<std::string> exclude;
  bool descending = false;  ///< By run.
};

/// The results of one run.
struct RunReport {
  long long id = 0;
  engine::Report report;
};

/// Writes the results of a run where they belong: a `<name>.dat` per table, in its own style with
/// all of its columns, rows into databases; sends messages to syslog and prints them.
void keep(const engine::Report& report);

/// Prints the tables; those of several runs as one per name.
/// @param runs ascending by id
void show(const std::vector<RunReport>& runs, const ShowOptions& options);

}  // namespace bench::cli
