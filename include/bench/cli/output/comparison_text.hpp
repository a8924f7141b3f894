#pragma once

#include <string>

#include <bench/inspect/run_comparison.hpp>
#include <bench/result/table.hpp>

namespace bench::cli {

/// The two sides of a comparison, as a user names them.
struct SideNames {
  std::string a;
  std::string b;
};

/// The verdicts for people, with a line for what they need to know of each kind of doubt.
std::string comparison_text(const inspect::RunComparison& comparison, const SideNames& names,
                            double margin);

/// All of them in one table, for programs. Relative numbers are shares: 0.01 is 1 %.
result::Table comparison_table(const inspect::RunComparison& comparison);

}  // namespace bench::cli
