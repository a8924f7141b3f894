#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/core/turns.hpp>
#include <bench/energy/sources/amd_devices.hpp>
#include <bench/energy/sources/amd_gauge.hpp>

namespace bench::energy {

/// The AMD GPUs that one interface shows: what derives from this finds them and says how to read
/// each.
class AmdSource : public PowerSource {
 public:
  void read(std::span<Reading> readings) override;
  std::optional<GpuState> gpu_state() const override { return state_; }

 protected:
  /// @param failure set where a value is missing that the GPU could have
  using ReadValues = std::function<AmdValues(std::string& failure)>;

  /// Adds what a GPU shows besides.
  using Watch = std::function<void(GpuState& state)>;

  /// @param name of the source, as its channels have it
  explicit AmdSource(std::string name);

  /// Reads a GPU for the first time; why that failed becomes a note.
  void add(AmdDevice device, ReadValues read_values, Watch watch = {});

  /// A GPU of which not even the address can be read, so that the program may see it.
  /// @param device `device 1`
  void add_unknown(const std::string& device, const std::string& failure);

  /// Makes the channels of those GPUs that the program sees.
  /// @throws bench::Error if there is none: the first note, or `absence` where no GPU was added
  void choose(const AmdVisibility& visibility, const std::string& absence);

 private:
  struct Gpu {
    ReadValues read_values;
    Watch watch;  ///< May be empty.
    bool has_counter = false;
    double counter_range_j = 0;
    AmdGauge gauge = {};
  };

  std::string name_;
  std::vector<AmdDevice> devices_;
  std::vector<Gpu> found_;  ///< As `devices_`.
  std::vector<Gpu> gpus_;   ///< As the channels.
  std::optional<GpuState> state_;
  Turns turns_;
};

}  // namespace bench::energy
