#pragma once

#include <bench/energy/core/channel.hpp>

/// What a reading of a channel may give.
namespace bench::energy {

inline Reading power(double power_w) {
  return {.power_w = power_w, .energy_j = {}, .failure = ""};
}
inline Reading counter(double energy_j) {
  return {.power_w = {}, .energy_j = energy_j, .failure = ""};
}
inline Reading both(double power_w, double energy_j) {
  return {.power_w = power_w, .energy_j = energy_j, .failure = ""};
}
inline Reading failed(bool lost = false) {
  return {.power_w = {}, .energy_j = {}, .failure = "broken", .lost = lost};
}

}  // namespace bench::energy
