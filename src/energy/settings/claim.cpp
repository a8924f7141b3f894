#include "claim.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/meter/ticks.hpp>
#include <bench/energy/settings/setting.hpp>

namespace bench::energy {
namespace {

/// Gives the guard of a killed meter time to restore its settings.
constexpr std::chrono::seconds patience{3};
constexpr std::chrono::milliseconds between_tries{50};

/// A name in the abstract namespace begins with a NUL byte and has no file.
/// @returns nothing if another process owns the name
UniqueFd bound_to(const std::string& name) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::size_t room = sizeof address.sun_path - 1;
  const std::string shown = name.size() > room ? name.substr(name.size() - room) : name;
  std::ranges::copy(shown, address.sun_path + 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + shown.size());
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): required by the socket API
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0)
    return socket;
  if (errno != EADDRINUSE)
    throw Error::of_system("cannot reserve the settings for this meter", errno);
  return {};
}

}  // namespace

Claim::Claim(const Settings& settings, const std::string& node) {
  std::map<std::string, std::string> devices;  // the same order in all processes
  for (const auto& setting : settings)
    devices.emplace(setting->device_id(), setting->device());
  const auto deadline = Clock::now() + patience;
  for (const auto& [id, device] : devices) {
    UniqueFd name = bound_to(fmt::format("bench-energy:{}:{}", node, id));
    while (!name.valid() && Clock::now() < deadline) {
      std::this_thread::sleep_for(between_tries);
      name = bound_to(fmt::format("bench-energy:{}:{}", node, id));
    }
    if (!name.valid())
      throw Error(fmt::format("another meter has changed the settings of {}", device),
                  "wait until it ends and restores them");
    names_.push_back(std::move(name));
  }
}

}  // namespace bench::energy
