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
  /// @throws UsageError if it cannot be written
  explicit TimingsFile(const std::string& file);

  /// @throws std::runtime_error if it cannot be written to its end
  void write(const Timers& timers);

 private:
  std::string file_;
  std::ofstream out_;
};

}  // namespace bench::steps
