#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bench/energy/core/scope.hpp>

namespace bench::energy {

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

}  // namespace bench::energy
