#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include <bench/base/error.hpp>

namespace bench {

/// How long bench waits for a machine that refuses what it needs, in seconds: BENCH_PATIENCE_S,
/// or 60.
/// @throws Error if the variable is not a number
double outage_patience_s();

/// The machine refused something, and it is known that nothing else is at fault.
class MachineError : public Error {
 public:
  using Error::Error;
};

/// Whether the machine is at fault for an error, and not what was asked of it. A `directory` that
/// has to exist and does not (renamed, its file system not mounted) is the machine's fault, too.
bool is_fault_of_machine(const Error& error, const std::filesystem::path& directory = {});

/// A time in which the machine refuses what bench needs, and when to try again: first soon, then
/// less and less often, and no longer than the patience lasts.
class Outage {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Outage(std::function<Clock::time_point()> now = Clock::now) : now_(std::move(now)) {}

  /// The machine has refused something.
  /// @returns whether to try again after `seconds_to_retry`; otherwise it has lasted too long
  bool try_again();
  /// The machine works.
  void end();

  /// Something is to be tried again.
  bool lasts() const { return next_.has_value(); }
  /// 0 where it can be tried now.
  double seconds_to_retry() const;

 private:
  std::function<Clock::time_point()> now_;
  std::optional<Clock::time_point> since_;
  std::optional<Clock::time_point> next_;
  std::chrono::milliseconds pause_{0};
};

}  // namespace bench
