#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::pages {

/// A line that is reduced while it grows, without changing its plot: keeps the lowest and the
/// highest point of each stretch, and the last of all.
class Envelope {
 public:
  struct Point {
    double x = 0;
    double y = 0;
  };

  /// @param most_points at least 5
  explicit Envelope(std::size_t most_points) : most_stretches_((most_points - 1) / 4 * 2) {}

  /// @param point right of the others
  void add(Point point);

  /// By x.
  std::vector<Point> points() const;

 private:
  struct Stretch {
    Point low;
    Point high;
  };
  static void widen(Stretch& stretch, Point point);

  std::size_t most_stretches_;  ///< Even, so that pairs can be merged.
  std::vector<Stretch> stretches_;
  std::size_t in_last_ = 0;  ///< Points of the last stretch.
  std::size_t points_per_stretch_ = 1;
  std::optional<Point> last_;
};

/// Whether this is the name of a log of samples: `power.csv`, `power.node7.csv`.
bool is_power_log(const std::filesystem::path& file);

/// What the meter writes beside such a log: `region_times.node7.csv` for the stem `region_times`.
std::filesystem::path file_beside(const std::filesystem::path& log, const std::string& stem);

/// The power of the channels in a log over the time since the start of the program.
struct PowerCurve {
  struct Channel {
    std::string name;  ///< `nvml:0`, without `_w`.
    Envelope samples;  ///< Seconds and watts.
  };
  std::vector<Channel> channels;
  std::optional<Warning> damage;  ///< What is left out of the file, and why; none: it is whole.
};

/// More points of a channel than pixels would not be visible.
constexpr std::size_t most_power_points = 1000;

/// Reads a log in constant memory. Skips cells that are no numbers.
/// @param file its name, for the damage
PowerCurve read_power_curve(UniqueFd fd, const std::filesystem::path& file);

/// Calls `read` with the text of a file below the run directory, if it exists.
/// @returns what is wrong with the file: it is too large, or `read` threw Error
std::optional<Warning> read_meter_file(const std::filesystem::path& run_directory,
                                       const std::filesystem::path& file, std::uintmax_t most_bytes,
                                       const std::function<void(const std::string& text)>& read);

/// One visit of the program to a region that it marks.
struct RegionVisit {
  std::string region;
  double begin_s = 0;
  double end_s = 0;
};

/// The visits in the text of a `region_times.csv`, in its order. Rows without two finite times are
/// left out.
/// @param file its name, for the error
/// @throws Error, with the place, if it is not CSV
std::vector<RegionVisit> region_visits(const std::string& text, const std::filesystem::path& file);

/// A warning in one line, without the directories above the run:
/// `000000_train/work/power.csv: line 1: this quote is never closed; it is left out`
std::string note_of(const std::filesystem::path& run_directory, const Warning& warning);

}  // namespace bench::pages
