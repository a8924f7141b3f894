#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bench/insight/past_runs.hpp>
#include <bench/machine/platform.hpp>

namespace bench::insight {

/// What a step program reports about the training that its command starts.
struct Work {
  std::string program;              ///< Empty: no command starts a step program.
  std::optional<double> flops;      ///< Of all devices together.
  std::optional<double> memory_gb;  ///< Least memory of each device.
  std::optional<double> stop_s;     ///< Time limit of the training in the command.
  std::string precision = "fp32";
  int devices = 1;
  std::string absent_reason;  ///< Why `flops` is unknown.
};

/// The words of the first command that starts one of these programs, from its name on; empty if
/// there is none, or if the shell would have to expand something first.
std::vector<std::string> program_call(const std::vector<std::string>& commands,
                                      const std::function<bool(const std::string&)>& is_program);

/// Queries step programs with `--describe`, each distinct call once.
class Describer {
 public:
  /// @param asking called with the name of a program before it is queried
  explicit Describer(std::function<void(const std::string&)> asking) : asking_(std::move(asking)) {}

  /// @param tasks number of tasks of the program, each with its own device and batch
  Work describe(const std::vector<std::string>& commands, int tasks);

 private:
  std::function<void(const std::string&)> asking_;
  std::map<std::string, std::map<std::string, std::string>> known_;
};

/// The assumed share of a device's peak that a training reaches if nothing was measured.
constexpr double default_efficiency = 0.4;

/// Time and energy from the platform's peak and power limit, or from the time limit in the command
/// if that is shorter.
/// @param efficiency share of the peak that is reached
Prediction predict_by_peak(const Work& work, const machine::Platform& platform, double efficiency);

/// Memory of a device in GB, with its source; that of this machine if the platform has neither
/// accelerators nor a batch system.
Estimate device_memory_gb(const machine::Platform& platform);

}  // namespace bench::insight
