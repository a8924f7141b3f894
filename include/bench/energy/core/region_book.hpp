#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/measurement.hpp>

namespace bench::energy {

/// A line of the protocol of region.hpp.
struct RegionMark {
  bool begins = false;
  std::string name;
  std::optional<std::int64_t> monotonic_ns;  ///< When, if the program says it.
};

/// Nothing where it is no such line.
std::optional<RegionMark> parse_region_mark(std::string_view line);

/// Keeps account of a program's regions. One that is entered again before it has been left counts
/// from the first entrance to the last exit, once.
class RegionBook {
 public:
  /// @returns the edge at which energy is to be cut, if the mark makes one
  std::optional<RegionEdge> take(const RegionMark& mark, double time_s);
  /// A line that nobody understands.
  void note_nonsense(std::string_view line);
  /// The run has ended.
  /// @returns the ends of the regions that are still open
  std::vector<RegionEdge> close(double end_s);

  /// In the order of their first entrance, which gives them their numbers.
  const std::vector<RegionTime>& regions() const { return regions_; }
  /// What the program got wrong: one line each.
  std::vector<std::string> warnings() const;

 private:
  struct Open {
    int depth = 0;
    double since_s = 0;
  };

  /// The program has left the region.
  void leave(std::size_t number, double time_s);

  std::map<std::string, std::size_t, std::less<>> numbers_;
  std::vector<RegionTime> regions_;
  std::vector<Open> open_;  ///< By number.
  std::uint64_t ends_without_begin_ = 0;
  std::uint64_t nonsense_ = 0;
  std::string first_nonsense_;
  bool too_many_ = false;
  int left_open_ = 0;
};

}  // namespace bench::energy
