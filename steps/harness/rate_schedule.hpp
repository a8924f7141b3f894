#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bench::steps {

/// Learning rate as a function of progress: of the samples, epochs or steps trained on, with
/// fractions. The program chooses the unit.
///
/// In the warm-up the rate changes linearly from the first to the highest: Goyal et al., Accurate,
/// Large Minibatch SGD (arXiv:1706.02677), section 2.2.
struct RateSchedule {
  /// Decay of the rate after the warm-up.
  enum class Shape {
    constant,
    cosine,       ///< Half a cosine: Loshchilov and Hutter, SGDR (arXiv:1608.03983), eq. 5.
    polynomial,   ///< `power` 1 is linear: Chen et al., DeepLab (arXiv:1606.00915), section 4.3.
    exponential,  ///< By the same factor for the same progress.
    step,         ///< Multiplied by a factor at each milestone, also in the warm-up.
  };

  double highest = 0.1;
  double warmup = 0;  ///< Progress at which the rate is highest.
  double first = 0;   ///< Rate at progress 0, if there is a warm-up.
  Shape shape = Shape::constant;
  /// Cosine, polynomial, exponential: rate at the end, and after it. Exponential: above 0.
  double lowest = 0;
  double start = 0;  ///< The same: progress from which it falls; the warm-up's end if below that.
  double end = 0;    ///< The same: above `warmup` and `start`.
  double power = 1;  ///< Polynomial.
  std::vector<double> milestones = {};  ///< Step.
  std::vector<double> factors = {0.1};  ///< Step: one for each milestone, or one for all.

  bool is_constant() const;
  /// @param progress from 0 on
  double rate(double progress) const;

 private:
  bool ends_at_lowest() const { return shape != Shape::constant && shape != Shape::step; }
  double warmup_rate(double progress) const;
  double factor_after(std::size_t passed) const;
  double rate_towards_lowest(double progress) const;
  double rate_in_steps(double progress) const;
};

/// Adds `--learning-rate`, `--lr-schedule` and what belongs to the shapes: `--lr-warmup`,
/// `--lr-first`, `--lr-milestones`, `--lr-factor`, `--lr-decay`, `--lr-end` and `--lr-power`.
/// @param schedule holds the defaults, and afterwards what the user wrote
/// @param unit of its progress, in the plural: epochs, samples
void add_schedule_options(CLI::App& app, RateSchedule& schedule, const std::string& unit);

/// Checks the options of `add_schedule_options`, once the command line was read.
/// @throws UsageError if they contradict each other
void check_schedule_options(const CLI::App& app, const RateSchedule& schedule);

}  // namespace bench::steps
