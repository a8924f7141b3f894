#pragma once

#include <deque>
#include <optional>

namespace bench::energy {

/// Below this share of its time a run, or a region, has no energy: the rest would be guessed.
inline constexpr double least_coverage = 0.95;

/// The parts of a run that a sensor gave no reading for.
class Coverage {
 public:
  /// @param longest_gap_s between two readings; a longer time is a hole
  explicit Coverage(double longest_gap_s) : longest_gap_s_(longest_gap_s) {}

  /// A reading stands for `time_s`. Times are seconds since the start of the run and increase.
  void add(double time_s);
  /// As `add`, of a counter: its difference holds all that was drawn since the reading before, but
  /// for the last `lost_s` seconds.
  void add_difference(double time_s, double lost_s);

  /// Seconds of holes from the start of the run to `end_s`.
  double missing_until_s(double end_s) const;
  /// The same between two moments. Of holes that lie far back only the latest are known one by one.
  double missing_between_s(double begin_s, double end_s) const {
    return missing_until_s(end_s) - missing_until_s(begin_s);
  }
  std::optional<double> last_s() const { return last_s_; }

 private:
  struct Hole {
    double begin_s = 0;
    double end_s = 0;
  };
  void note_hole(double begin_s, double end_s);

  double longest_gap_s_;
  std::optional<double> last_s_;
  double older_s_ = 0;  ///< In holes that are no longer kept.
  std::deque<Hole> holes_;
};

/// Whether that many seconds may be missing of a time.
inline bool is_covered(double missing_s, double duration_s) {
  return missing_s <= (1 - least_coverage) * duration_s;
}

}  // namespace bench::energy
