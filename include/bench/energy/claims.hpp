#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include <bench/base/unique_fd.hpp>

namespace bench::energy {

/// Who measures what on a node, among the meters of one parallel program: each source has one
/// reader, the first that asks. A claim ends with the process that made it, however it ends. Safe
/// to use by several threads.
class Claims {
 public:
  /// @param directory the same for all meters that share the node's sources; made where it is not
  ///        there
  explicit Claims(std::filesystem::path directory) : directory_(std::move(directory)) {}
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;
  ~Claims() { give_back(); }

  /// Whether `what` is ours from now on, or has been before. Where no claim can be made because the
  /// directory cannot be used, everybody measures: twice is better than not at all.
  bool take(const std::string& what);
  /// Gives all back.
  void give_back();

 private:
  std::filesystem::path directory_;
  std::mutex mutex_;
  std::map<std::string, UniqueFd> taken_;
};

/// The directory of the parallel program that this process is a part of, in memory on this node;
/// empty outside of one. Source: the variables of Slurm (srun(1)), PMIx, PALS and Open MPI; else
/// the launcher's process tells programs apart.
std::filesystem::path claims_directory();

}  // namespace bench::energy
