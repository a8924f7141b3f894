#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <bench/energy/channel_meter.hpp>
#include <bench/energy/methods.hpp>
#include <bench/energy/power_log.hpp>
#include <bench/energy/ticks.hpp>

namespace bench::energy {

struct SamplerSettings {
  SourceSettings sources;
  std::chrono::nanoseconds interval{std::chrono::milliseconds(100)};
  std::filesystem::path power_log;  ///< Empty: none is written.
  PowerLayout power_layout = PowerLayout::own;
};

/// Lowest and highest sum of the additive channels at one tick.
struct PowerRange {
  std::optional<double> min_w;
  std::optional<double> max_w;
};

/// What a run was measured to draw.
struct Measurement {
  double duration_s = 0;
  std::vector<ChannelEnergy> channels;
  PowerRange total_power;
  std::vector<Absence> absences;
  std::vector<std::string> warnings;
  std::uint64_t overruns = 0;
};

/// Samples all sources in one thread, which never holds up the program that is measured: whatever a
/// driver does, each call here returns within its stated time.
///
/// Start it, wait until it is ready (sources are open and counters have been read once), start the
/// program, `begin`, wait for the program, `end`.
class Sampler {
 public:
  /// Starts the thread, with every signal blocked.
  /// @throws bench::Error if the power log cannot be written
  explicit Sampler(SamplerSettings settings);
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  /// Leaves a thread behind that hangs in a driver.
  ~Sampler();

  /// False if a source has not come up in time; it joins in when it does.
  bool wait_until_ready(std::chrono::nanoseconds at_most);
  /// The sources that are not there; complete once the sampler is ready.
  std::vector<Absence> absences() const;
  /// The program was started at `time`.
  void begin(Clock::time_point time);
  /// The program has ended, now. Takes the closing readings: at once, or after the averaging window
  /// of sensors that have no counter; gives up on a driver that does not answer for two seconds
  /// more.
  Measurement end();

 private:
  struct State;
  class Loop;
  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace bench::energy
