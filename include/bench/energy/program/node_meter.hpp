#pragma once

#include <memory>
#include <string>

#include <bench/energy/program/options.hpp>
#include <bench/energy/sources/claims.hpp>

namespace bench::energy {

// With --per-node, the first of the meters on a node measures, and the others become the program.

/// Who measures what, where this is one of several meters of a parallel program; else null.
/// @throws bench::Error if each of them would set the processors of the node
std::shared_ptr<Claims> claims_of_node(const Options& options);

/// Whether this one measures.
bool is_meter_of_node(const Options& options);

/// Of one that does not: waits while the one that does prepares the node, whose idle power or
/// temperature the programs of the others would change.
/// @returns the signal that ended the wait; else 0
int wait_for_meter_of_node(const Options& options);

/// Of the one that measures: its program has started, so the others need not wait any more.
void tell_start(const Options& options);

/// Of the one that measures: a warning if the GPUs of other ranks are hidden from it; else empty.
std::string hidden_gpus(const Options& options);

}  // namespace bench::energy
