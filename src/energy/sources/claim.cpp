#include "claim.hpp"

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/sources/node_name.hpp>
#include <bench/energy/sources/setting.hpp>

namespace bench::energy {
namespace {

/// Gives the guard of a killed meter time to restore its settings.
constexpr std::chrono::seconds patience{3};
constexpr std::chrono::milliseconds between_tries{50};

}  // namespace

Claim::Claim(const Settings& settings, const std::string& node) {
  std::map<std::string, std::string> devices;  // the same order in all processes
  for (const auto& setting : settings)
    devices.emplace(setting->device_id(), setting->device());
  const auto deadline = Clock::now() + patience;
  for (const auto& [id, device] : devices) {
    UniqueFd name = reserve_node_name(fmt::format("bench-energy:{}:{}", node, id));
    while (!name.valid() && Clock::now() < deadline) {
      std::this_thread::sleep_for(between_tries);
      name = reserve_node_name(fmt::format("bench-energy:{}:{}", node, id));
    }
    if (!name.valid())
      throw Error(fmt::format("another meter has changed the settings of {}", device),
                  "wait until it ends and restores them");
    names_.push_back(std::move(name));
  }
}

}  // namespace bench::energy
