#pragma once

#include <span>

#include <bench/energy/core/channel.hpp>

namespace bench::energy {

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
