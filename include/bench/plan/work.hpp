#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bench/plan/history.hpp>
#include <bench/platform/platform.hpp>

namespace bench::plan {

/// What a step program says of the training that its command asks for.
struct Work {
  std::string program;              ///< Empty: no command starts a step program.
  std::optional<double> flops;      ///< Of all devices together.
  std::optional<double> memory_gb;  ///< That a device needs at least.
  std::optional<double> stop_s;     ///< When the command ends its training at the latest.
  std::string precision = "fp32";
  int devices = 1;
  std::string absent_reason;  ///< Why `flops` is unknown.
};

/// The words of the first command that starts one of these programs, from its name on; none where
/// there is none, or where the shell would have to evaluate something first.
std::vector<std::string> program_call(const std::vector<std::string>& commands,
                                      const std::function<bool(const std::string&)>& is_program);

/// Asks the step programs, by `--describe`; each call once.
class Describer {
 public:
  /// @param asking is called before a program is asked, with its name
  explicit Describer(std::function<void(const std::string&)> asking) : asking_(std::move(asking)) {}

  /// @param tasks that the program runs as, each with a device and a batch of its own
  Work describe(const std::vector<std::string>& commands, int tasks);

 private:
  std::function<void(const std::string&)> asking_;
  std::map<std::string, std::map<std::string, std::string>> known_;
};

/// The share of a device's peak that a training is assumed to reach where nothing was measured.
constexpr double default_efficiency = 0.4;

/// Time and energy by the platform's peak and power limit, or by the time at which the command ends
/// its training, if that comes first.
/// @param efficiency share of the peak that is reached
Prediction predict_by_peak(const Work& work, const platform::Platform& platform, double efficiency);

/// Memory of a device in GB, with where it is from; of this machine where the platform has no
/// accelerators and no batch system.
Estimate device_memory_gb(const platform::Platform& platform);

}  // namespace bench::plan
