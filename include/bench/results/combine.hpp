#pragma once

#include <vector>

#include <bench/results/table.hpp>

namespace bench::results {

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
