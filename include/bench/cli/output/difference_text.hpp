#pragma once

#include <string>

#include <bench/insight/difference.hpp>
#include <bench/results/table.hpp>

namespace bench::cli {

/// What is compared, as a user names it.
struct ComparedNames {
  std::string a;
  std::string b;
};

/// Items of a list in one cell, `-` for none; the first part of a long one, which json and csv have
/// as a whole.
std::string in_one_line(const std::string& text);

/// The differences for people.
/// @param all every one; else the largest of many, and the count of the others
std::string difference_text(const inspect::Differences& differences, const ComparedNames& names,
                            bool all);

/// All of them in one table, for programs: what differs (`provenance`, `parameter`, `point`,
/// `state`, `metric`), step, point, name, unit, a, b, difference, relative.
result::Table difference_table(const inspect::Differences& differences);

}  // namespace bench::cli
