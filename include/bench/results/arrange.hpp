#pragma once

#include <string>
#include <vector>

#include <bench/results/table.hpp>

namespace bench::results {

// What a user wants to see of a table. Columns are called by their names, or by titles that are no
// column's name.

/// Leaves only the rows for which an expression of SQL (SQLite's) over the columns holds:
/// `batch_size >= 8 and state = 'done'`. A missing value and `nan` are NULL, so that no comparison
/// with them holds. Values are data, never part of the expression: whatever they hold, nothing is
/// executed.
/// @throws Error if it is not an expression, or names what is no column
void choose_rows(Table& table, const std::string& condition);

/// Sorts by these columns, the first of them first, each `COLUMN` or `COLUMN:desc`: numbers, then
/// `nan`, then texts. What is missing comes last in both directions. Equal rows keep their order.
/// @throws Error if there is no such column
void sort_rows(Table& table, const std::vector<std::string>& columns);

/// Leaves only these columns, and none of the others; an empty `select` keeps all. Order and rows
/// stay.
void choose_columns(Table& table, const std::vector<std::string>& select,
                    const std::vector<std::string>& exclude);

/// The table of one run.
struct RunTable {
  long long id = 0;
  Table table;
};

/// One table of the tables that several runs have under one name, with a first column `id`; rows go
/// by id, those of one run stay in order. Columns are united where they show the same heading; what
/// the newest run lacks comes behind its own. Where one run shows a heading twice, its first column
/// is united with the first of another run, and so on (JUBE merges them). Everything else is as in
/// the newest run.
/// @param runs not empty, ascending by id
Table combine(const std::vector<RunTable>& runs, bool descending);

}  // namespace bench::results
