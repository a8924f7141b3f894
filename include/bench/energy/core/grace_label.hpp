#pragma once

#include <optional>
#include <string>

#include <bench/energy/core/scope.hpp>

namespace bench::energy {

/// The number after the last `Socket` in the label of a power meter; -1 without one.
int socket_of(const std::string& label);
/// What a Grace superchip's meter with this label measures; nullopt for any other meter.
std::optional<Scope> scope_of_label(const std::string& label);

}  // namespace bench::energy
