#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <bench/energy/core/event.hpp>
#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/sources/cpu_time.hpp>

namespace bench::energy {

/// Samples the processors of the node while a program runs: once a second in its own thread,
/// beginning 50 ms after the start, so that it delays neither the start nor a short program.
class CpuWatch {
 public:
  /// @param in_job as `OwnCpuTime` has it
  CpuWatch(std::filesystem::path proc, std::filesystem::path sysfs, bool in_job)
      : proc_(std::move(proc)), sysfs_(std::move(sysfs)), in_job_(in_job) {}
  CpuWatch(const CpuWatch&) = delete;
  CpuWatch& operator=(const CpuWatch&) = delete;
  ~CpuWatch();

  /// Called when the program has started.
  void begin();
  /// Called when the program has ended and its CPU time is known.
  CpuState end();

 private:
  void watch();
  void stop();

  std::filesystem::path proc_;
  std::filesystem::path sysfs_;
  bool in_job_;
  std::optional<OwnCpuTime> own_;
  std::optional<NodeCpuTime> node_before_;
  std::optional<double> own_before_s_;
  Clock::time_point begin_;
  CpuState state_;  ///< The thread's, while it runs.
  Event over_;
  std::thread thread_;
};

}  // namespace bench::energy
