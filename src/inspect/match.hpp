#pragma once

#include <string>
#include <vector>

#include <bench/inspect/difference.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::inspect {

/// How the workpackages of a step in two runs belong together.
struct Matching {
  std::vector<Pair> pairs;  ///< In order of the numbers in `a`.
  std::vector<LonePoint> lone;
  std::vector<TextDifference> parameters;
};

/// The workpackages of a step in each run, ascending by id.
using Members = std::vector<const workspace::Workpackage*>;

Matching match(const std::string& step, const Members& a, const Members& b);

}  // namespace bench::inspect
