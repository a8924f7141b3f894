#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bench::insight {

/// A measured point: its numbers, all positive, and the value.
struct FitPoint {
  std::vector<double> x;
  double y = 0;
};

/// A model of such points.
struct Fit {
  enum class Kind { power, line };
  Kind kind = Kind::power;
  double offset = 0;              ///< Constant part of a power law.
  double constant = 0;            ///< Factor of a power law, intercept of a line.
  std::vector<double> exponents;  ///< One for each number; the slope of a line.
  double error = 0;               ///< Median relative error in cross-validation.
  bool is_tested =
      true;  ///< False for a model through two points, whose error counts as the largest, 1.

  /// Nothing if the value would not be positive.
  std::optional<double> at(const std::vector<double>& x) const;
};

/// The model that predicts left-out points best: a power law; of points with one number, a line; of
/// one point more than a power law needs, a power law above an offset, such as a start-up. The
/// simpler one if there is little between them. Numbers that depend on others at all points get the
/// exponent 0. Least squares of logarithms, of relative errors for a line.
/// Through two points with one number a line if both its parts are positive, such as a start-up and
/// a time for each sample; otherwise a power law.
/// @returns nothing for less than two points, or than two more than there are numbers if those are
///          several
std::optional<Fit> fit(const std::vector<FitPoint>& points);

}  // namespace bench::insight
