#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/core/ticks.hpp>

namespace bench::energy {

/// The file to which a program appends its marks, and the thread that reads them as they come. A
/// file and not a pipe: it cannot block the program or end it by SIGPIPE, whatever becomes of the
/// meter, processes that close their descriptors find it by its name, and it survives the meter.
class RegionFile {
 public:
  /// Called for every line, in order, by one thread at a time.
  using Listener = std::function<void(std::string_view line, Clock::time_point received)>;

  /// Empties the file, or creates it. Without a name it is a temporary one, which goes away with
  /// this.
  /// @throws bench::Error if it cannot be written or watched
  explicit RegionFile(const std::filesystem::path& file);
  RegionFile(const RegionFile&) = delete;
  RegionFile& operator=(const RegionFile&) = delete;
  ~RegionFile();

  /// Absolute.
  const std::filesystem::path& path() const { return path_; }
  void listen(Listener listener);
  /// Reads the rest and ends. A last line without its end counts.
  void stop();

 private:
  void read_new(Clock::time_point received);
  void run();

  std::filesystem::path path_;
  bool temporary_ = false;
  UniqueFd file_;
  UniqueFd watch_;
  UniqueFd stop_;
  Listener listener_;
  std::thread thread_;
  bool read_at_stop_ = false;  ///< No thread could be started.
  std::string pending_;
  long long offset_ = 0;
};

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
