#pragma once

#include "harness/timers.hpp"

#include <fstream>
#include <string>

namespace bench::steps {

/// The file of `--timings`: every sample as a line `key,index,seconds`.
class TimingsFile {
 public:
  /// Opens it before the run, which may take hours, rather than fail after it.
  /// @param file empty: none
  /// @param rank those behind rank 0 add their number to the name
  /// @throws UsageError if it cannot be written
  explicit TimingsFile(const std::string& file, int rank = 0);

  /// @throws std::runtime_error if it cannot be written to its end
  void write(const Timers& timers);

 private:
  std::string file_;
  std::ofstream out_;
};

}  // namespace bench::steps
