#pragma once

#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

/// @throws Error if it has neither an address nor a host, or both
Syslog build_syslog(const document::Node& node);

/// @throws Error if `primekeys` names none of its keys
Database build_database(const document::Node& node);

}  // namespace bench::model
