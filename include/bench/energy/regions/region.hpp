#pragma once

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

/// Regions of a program, for the meter that runs it: `bench-energy --regions -- program`. Needs
/// nothing but this header; without the meter nothing happens. Any other language appends the same
/// lines to the file that BENCH_ENERGY_REGIONS names, for example `echo "begin train" >>
/// "$BENCH_ENERGY_REGIONS"`.
///
/// Regions may nest, also in themselves. Work on an accelerator is asynchronous: wait for the
/// device before a region begins and ends, or mark it later, with the times that the device tells.
namespace bench::energy {

/// What the meter tells the program by an environment variable: a file of lines `begin NAME` and
/// `end NAME`, or `begin@NS NAME` with the nanoseconds of CLOCK_MONOTONIC; without them the moment
/// counts in which the line is seen.
inline constexpr const char* region_variable = "BENCH_ENERGY_REGIONS";

/// Longer names are cut.
inline constexpr std::size_t longest_region_name = 100;

/// The file; -1 where no meter wants to know.
inline int region_file() {
  static const int file = [] {
    const char* const path = std::getenv(region_variable);
    return path ? ::open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
  }();
  return file;
}

/// Nanoseconds of CLOCK_MONOTONIC.
inline long long region_clock_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<long long>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// A line of the file. A name is one line.
inline std::string region_line(bool begins, std::string_view name, long long monotonic_ns) {
  std::string line = begins ? "begin@" : "end@";
  line += std::to_string(monotonic_ns);
  line += ' ';
  line += name.substr(0, std::min(name.find('\n'), longest_region_name));
  line += '\n';
  return line;
}

/// Appends whole lines, in one call, so that those of several threads or processes do not mix. A
/// meter that misses one says so; the program has nothing to do about it.
inline void write_region_lines(const std::string& lines) {
  if (region_file() >= 0) [[maybe_unused]]
    const auto written = ::write(region_file(), lines.data(), lines.size());
}

/// A region from its construction to the end of its life.
class Region {
 public:
  explicit Region(std::string_view name) : name_(name) { mark(true); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() { mark(false); }

 private:
  void mark(bool begins) const {
    if (region_file() >= 0)
      write_region_lines(region_line(begins, name_, region_clock_ns()));
  }

  std::string name_;
};

}  // namespace bench::energy
