#pragma once

#include "harness/torch_all.hpp"

#include <fstream>
#include <string>

namespace bench::steps {

/// Records which operations LibTorch executes, and writes them as a trace in Chrome's format, which
/// Perfetto opens. While it records, every operation takes some microseconds longer.
class Profiler {
 public:
  /// Opens the file before the run, which may take hours, rather than fail after it.
  /// @param file empty: nothing is ever recorded
  /// @param rank those behind rank 0 add their number to the name
  /// @throws UsageError if it cannot be written
  Profiler(const std::string& file, const torch::Device& device, int rank);

  bool is_wanted() const { return !file_.empty(); }
  void start();
  /// Ends the recording.
  /// @throws std::runtime_error if the file cannot be written to its end
  void write();

 private:
  std::string file_;
  std::ofstream out_;
  torch::Device device_;
  int rank_;
};

}  // namespace bench::steps
