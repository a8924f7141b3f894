#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::energy {

/// What part of a node a channel measures. Decides which channels may be added.
enum class Scope {
  node,         ///< Everything behind the node's power supply.
  module,       ///< A superchip: GPU, its memory, CPU, its memory, regulator losses (hwmon).
  grace,        ///< CPU side of a superchip: CPU rail, SoC rail, memory, losses.
  cpu_rail,     ///< CPU rail of a superchip.
  soc_rail,     ///< SoC rail of a superchip.
  gpu,          ///< One GPU with its memory.
  apu,          ///< One package with CPU cores and a GPU.
  gpu_average,  ///< The same GPU again, through a slower filter.
  gpu_module,   ///< The superchip of a GPU as NVML sees it.
  package,      ///< One CPU package.
  dram,         ///< Memory beside a CPU package.
  core,         ///< Cores, inside the package.
  uncore,       ///< Integrated graphics, inside the package.
  platform,     ///< RAPL psys: the package and more, differently on every board.
  cpu_model,    ///< CPUs, estimated from their utilisation.
  node_meter,   ///< The node again, seen from outside and slowly: BMC, PDU, Slurm.
  node_model,   ///< The node, estimated from the utilisation of its CPUs.
  node_part,    ///< A part of the node as its controller sees it, beside the part's own sensors.
  gpu_model,    ///< One GPU, estimated from its utilisation.
  ipu,          ///< One Graphcore IPU.
  board,        ///< A PCIe card with its IPUs.
  mock,         ///< Invented, for tests.
  other,        ///< Unknown; recorded, never added.
};

std::string_view name_of(Scope scope);
/// The same, but for NVML's module, which is `gpu_module`: for files that are read again.
std::string_view unique_name_of(Scope scope);
/// The scope with this unique name.
std::optional<Scope> scope_of(std::string_view unique_name);

/// Whether what is measured in `outer` includes what is measured in `inner`.
enum class Inclusion { none, same_device, any_device };
Inclusion inclusion(Scope outer, Scope inner);

/// Every scope, inner ones before those that include them.
std::span<const Scope> all_scopes();
/// A channel of this scope may be part of a total.
bool may_be_added(Scope scope);
/// A GPU, an APU or an IPU. A superchip's module has the processor in it, too, and is none.
bool is_device(Scope scope);

/// One quantity of one device, fixed when its source was opened.
struct Channel {
  std::string name;         ///< `<source>:<device>[:<scope>]`, unique on the node, without commas.
  std::string description;  ///< For people: product name, UUID, file.
  Scope scope = Scope::other;
  std::string label;      ///< What the firmware calls a meter, where it has labels.
  std::string device_id;  ///< Tells devices of a node apart in every process, as a UUID does.
  int device = -1;        ///< Socket or device number, to pair channels; -1 is unknown.
  /// Of the devices it measures, `0000:c1:00.0`, as far as known. One device is added once only.
  std::vector<std::string> pci_addresses;
  bool estimated = false;  ///< Derived from a stated figure, not from a sensor.
  bool additive = false;   ///< Part of the total; set by `mark_additive`.
  std::string parent;      ///< The channel that already contains this one; set by `mark_additive`.
  bool shared = false;     ///< Other programs may have a part in it; set by `mark_additive`.
  /// Another channel measures its device and counts for it; set by `mark_additive`.
  bool duplicate = false;

  /// The reason why its source cannot read it; empty if it can.
  std::string unreadable;
  /// Other programs may use a part of the device, as with MIG instances.
  bool partly_owned = false;
  /// Another channel of its source that shows the same counter; empty if there is none.
  std::string mirror_of;

  /// It showed no power of its own when it was opened, only a counter: what is recorded as its
  /// power is the counter's slope.
  bool counter_only = false;
  /// The sensor shows the mean over this many past seconds; 0 is an instantaneous reading.
  double averaging_window_s = 0;
  /// Energy after which the counter starts again at 0; 0 if it never does.
  double counter_range_j = 0;
  /// How often a counter moves. Power is taken from a counter over at least ten such periods.
  double counter_period_s = 0;
  /// How often the sensor shows a new value; 0: whenever it is read. It says nothing about less.
  double update_period_s = 0;
  /// Its source is read no more often than this.
  double shortest_interval_s = 0;
  /// Nobody has told whether the counter is that of the GPU or of its module: `results_of` finds
  /// out.
  bool counter_of_either = false;
  /// A power from a counter that is larger comes from the size of the counter's steps.
  double power_limit_w = std::numeric_limits<double>::infinity();

  bool operator==(const Channel&) const = default;
};

/// The source part of a channel's name.
std::string_view source_of(const Channel& channel);

/// Whether it measures a GPU or an IPU that the program has for itself. Of several channels of one
/// device, only one does.
bool is_own_device(const Channel& channel);

/// `text` with everything but letters, digits and `_` replaced by `_`.
std::string as_identifier(std::string_view text);

/// `as_identifier` of every text, no two alike: where another one has it already, a number from 2
/// on follows it (`eval_1_2`). A name that needs no number is never given to another.
std::vector<std::string> distinct_identifiers(std::span<const std::string> texts);

/// What one reading of a channel gave.
struct Reading {
  std::optional<double> power_w;
  /// Voltage times current of the same moment, in volt-amperes; few meters tell it.
  std::optional<double> apparent_va = {};
  /// Energy since an arbitrary moment before the run; never wraps.
  std::optional<double> energy_j;
  std::string failure;  ///< Why a value is missing that this channel has otherwise.
  bool lost = false;    ///< The device will not come back.
  /// The counter was not asked, since it cannot have moved.
  bool counter_rests = false;
  /// How long ago the counter came to show `energy_j`, where the source knows.
  std::optional<double> counter_age_s = {};
  /// When the values were taken, on a clock of the sensor's own.
  std::optional<double> stamp_s = {};
  /// So many seconds before this reading are not in `energy_j`: the counter was reset.
  double uncounted_s = 0;
};

/// The number after the last `Socket` in the label of a power meter; -1 without one.
int socket_of(const std::string& label);
/// What a Grace superchip's meter with this label measures; nullopt for any other meter.
std::optional<Scope> scope_of_label(const std::string& label);

/// What of a node the program that is measured has for itself: all of it, its devices, or nothing.
enum class Owned { all, devices, nothing };

/// Decides for the channels of all sources together which ones the total may add, and fills in
/// `additive`, `parent`, `shared` and `duplicate`.
///
/// A channel is added where nothing else present already contains it: a node meter contains all, a
/// superchip's module its CPU side and its GPUs, `Grace` its rails, a package its cores. RAPL psys
/// and meters of unknown drivers are recorded and never added. Of several sources that measure the
/// whole node one counts: a meter inside before one outside before an estimate, and of two alike
/// the first. Of channels that measure one PCI device through several sources the first is added.
/// Sources: Linux Documentation/power/powercap/powercap.rst; NVIDIA Grace Performance Tuning Guide,
/// power telemetry (Module contains Grace contains CPU and SysIO).
///
/// What the program does not have for itself is recorded as `shared` and neither added nor taken to
/// contain anything.
///
/// A channel that cannot be read is added like the others, so that the total lacks it and is
/// absent. It is not added if another channel measures its device, or if its source reads no other
/// of its kind and something inside it can be read: the parts are added instead.
void mark_additive(std::span<Channel> channels, Owned owned = Owned::all);

}  // namespace bench::energy
