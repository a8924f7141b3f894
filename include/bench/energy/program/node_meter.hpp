#pragma once

#include <memory>
#include <string>

#include <bench/energy/program/options.hpp>
#include <bench/energy/sources/claims.hpp>

namespace bench::energy {

// With --per-node, the first of the meters on a node measures, and the others become the program.

/// The claims that divide the work among the meters of a parallel program. Null if this is the only
/// meter.
/// @throws bench::Error if each of them would set the processors of the node
std::shared_ptr<Claims> claims_of_node(const Options& options);

/// Whether this process measures, or only becomes the program.
bool is_meter_of_node(const Options& options);

/// Waits while the meter of the node prepares it: the programs of other ranks would change the idle
/// power or the temperature. For a process that does not measure.
/// @returns the signal that ended the wait; 0 if none did
int wait_for_meter_of_node(const Options& options);

/// Ends that wait of the others: the program of the meter of the node has started.
void tell_start(const Options& options);

/// A warning if GPUs of other ranks are hidden from the meter of the node; empty if none are.
std::string hidden_gpus(const Options& options);

}  // namespace bench::energy
