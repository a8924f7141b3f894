#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/results/table.hpp>

namespace bench::results {

/// Where rows go: the table with the rows' name in an SQLite file.
struct DatabaseTarget {
  std::filesystem::path file;            ///< Made with its directories if missing.
  std::string run;                       ///< Identifies the run that the rows come from.
  std::vector<std::string> primary_key;  ///< Titles of columns; empty: none.
  Place place;
};

/// The last column of a table without a primary key: the run that a row comes from.
inline constexpr const char* run_column = "bench_run";

/// Writes the rows, in one transaction. Columns are called by their titles, without units, and have
/// the type `int`, `float` or `text` that fits all of their values; formatted values are text, what
/// is missing is NULL. An existing table loses the columns that are not among them and gets the new
/// ones. With a primary key a row replaces the one of equal key; without one the rows that the same
/// run wrote earlier are replaced, so that writing twice changes nothing.
///
/// @throws Error with the target's place if the file is not an SQLite database, two columns have
/// one
///         title, or the table exists with another primary key
void write(const Table& rows, const DatabaseTarget& target);

}  // namespace bench::results
