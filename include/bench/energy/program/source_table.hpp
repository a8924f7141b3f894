#pragma once

#include <string>

#include <bench/energy/sources/methods.hpp>

namespace bench::energy {

/// What the node has and why the rest is not there, as a table for people.
std::string source_table(const Sources& sources);

}  // namespace bench::energy
