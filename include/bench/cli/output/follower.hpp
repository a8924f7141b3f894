#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <bench/machine/job.hpp>

namespace bench::cli {

/// Prints what commands write while they run, line by line, each with the workpackage in front.
/// Where nobody reads that, they are not waited for: it is told which file has more.
class Follower {
 public:
  /// From now on follows the files that the job's commands append to, from their present ends.
  void start(const machine::Job& job);
  /// Prints what the files have gained.
  void poll();
  /// Prints the rest, also a line without an end.
  void stop(long long workpackage);

 private:
  struct Output {
    std::filesystem::path file;
    std::uintmax_t read = 0;  ///< Bytes.
    std::string line;         ///< Without its end yet.
  };

  static void print_new(long long workpackage, Output& output);

  std::map<long long, std::vector<Output>> running_;
};

}  // namespace bench::cli
