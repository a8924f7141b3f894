#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

/// Regions of a program, for the meter that runs it: `bench-energy --regions -- program`. Needs
/// nothing but this header; without the meter nothing happens. Any other language appends the same
/// lines to the file that BENCH_ENERGY_REGIONS names, for example `echo "begin train" >>
/// "$BENCH_ENERGY_REGIONS"`.
///
/// Work on an accelerator is asynchronous: wait for the device before a region begins and ends.
namespace bench::energy {

/// What the meter tells the program by an environment variable: a file of lines `begin NAME` and
/// `end NAME`, or `begin@NS NAME` with the nanoseconds of CLOCK_MONOTONIC; without them the moment
/// counts in which the line is seen.
inline constexpr const char* region_variable = "BENCH_ENERGY_REGIONS";

/// Longer names are cut.
inline constexpr std::size_t longest_region_name = 100;

/// Says that a region begins or ends. A name is one line; regions may nest, also in themselves.
inline void mark_region(const char* begin_or_end, std::string_view name) {
  static const int file = [] {
    const char* const path = std::getenv(region_variable);
    return path ? ::open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
  }();
  if (file < 0)
    return;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  char line[64 + longest_region_name];
  const int length =
      std::snprintf(line, sizeof line, "%s@%lld %.*s\n", begin_or_end,
                    static_cast<long long>(now.tv_sec) * 1'000'000'000 + now.tv_nsec,
                    static_cast<int>(std::min(name.size(), longest_region_name)), name.data());
  // In one call, so that lines of several threads or processes do not mix. A meter that misses one
  // says so; the program has nothing to do about it.
  [[maybe_unused]] const auto written = ::write(file, line, static_cast<std::size_t>(length));
}

/// A region from its construction to the end of its life.
class Region {
 public:
  explicit Region(std::string_view name) : name_(name) { mark_region("begin", name_); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() { mark_region("end", name_); }

 private:
  std::string name_;
};

}  // namespace bench::energy
