#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <bench/workspace/workpackage.hpp>

namespace bench::insight {

/// Something that both runs have, with what it is in each; of a list only what the other lacks.
struct TextDifference {
  std::string step;  ///< Empty: of the run.
  std::string name;
  std::string a;  ///< Empty: not there.
  std::string b;
};

/// A point of the parameter space that only one run has.
struct LonePoint {
  std::string step;
  workspace::Parameters parameters;
  bool in_a = false;
  std::size_t workpackages = 0;
};

/// Two workpackages on the same point: what they are told apart by in the runs.
struct Pair {
  std::string step;
  workspace::Parameters parameters;
  long long a = 0;
  long long b = 0;
};

/// How the workpackages of a step in two runs belong together.
struct Matching {
  std::vector<Pair> pairs;  ///< In order of the numbers in `a`.
  std::vector<LonePoint> lone;
  std::vector<TextDifference> parameters;
};

/// The workpackages of a step in each run, ascending by id.
using Members = std::vector<const workspace::Workpackage*>;

/// The parameters by which the points of a step are told apart and found again: those that both
/// sides have. One without a value in common counts only where it tells points of a side apart.
struct PointKey {
  std::vector<std::string> names;
  std::vector<TextDifference> left_out;  ///< With their values on either side.
};

PointKey point_key(const std::string& step, const Members& a, const Members& b);

/// Equal for the workpackages of one point.
std::string key_text(const workspace::Workpackage& workpackage,
                     const std::vector<std::string>& names);
/// Those of the parameters.
workspace::Parameters chosen(const workspace::Workpackage& workpackage,
                             const std::vector<std::string>& names);

Matching match(const std::string& step, const Members& a, const Members& b);

}  // namespace bench::insight
