#pragma once

#include "report_power.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::serve {

/// Samples of one channel, reduced without changing their plot: keeps the lowest and the highest
/// sample of each stretch.
class Envelope {
 public:
  struct Sample {
    double time_s = 0;
    double power_w = 0;
  };

  void add(Sample sample);

  /// At most `2 * most_stretches`, by time.
  std::vector<Sample> samples() const;
  bool empty() const { return stretches_.empty(); }
  Sample lowest() const;
  Sample highest() const;

  static constexpr std::size_t most_stretches = 400;

 private:
  struct Stretch {
    Sample low;
    Sample high;
  };
  static void widen(Stretch& stretch, Sample sample);

  std::vector<Stretch> stretches_;
  std::size_t in_last_ = 0;  ///< Samples of the last stretch.
  std::size_t samples_per_stretch_ = 1;
};

/// The power of the channels in a `power.csv` over the time since the start of the program.
struct PowerCurve {
  struct Channel {
    std::string name;  ///< `nvml:0`, without `_w`.
    Envelope samples;
  };
  std::vector<Channel> channels;
  std::optional<Warning> damage;  ///< From where on the file is left out; none: it is whole.

  bool empty() const;
};

/// Reads samples in constant memory. Stops at a row that was cut off, and skips cells that are no
/// numbers.
/// @param file its name, for the error
/// @throws Error if it cannot be read
PowerCurve read_power_curve(UniqueFd fd, const std::string& file);

/// The curve as an HTML figure with inline SVG.
/// @param visits shown behind the curve
std::string power_figure(const PowerCurve& curve, const std::vector<report::RegionVisit>& visits,
                         std::string_view caption);

}  // namespace bench::serve
