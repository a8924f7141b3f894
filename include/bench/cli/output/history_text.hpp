#pragma once

#include <span>
#include <string>
#include <vector>

#include <bench/insight/history.hpp>
#include <bench/results/table.hpp>

namespace bench::cli {

/// A run of a history, as a user names it.
struct NamedRun {
  std::string name;
  std::string started;
};

/// The levels of each history for people.
/// @param runs as the entries of the histories number them
std::string history_text(std::span<const inspect::PointHistory> histories,
                         std::span<const NamedRun> runs);

/// A row for each run at each point, for programs.
result::Table history_table(std::span<const inspect::PointHistory> histories,
                            std::span<const NamedRun> runs);

}  // namespace bench::cli
