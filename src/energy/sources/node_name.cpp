#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>

#include <sys/socket.h>
#include <sys/un.h>

#include <bench/base/error.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/sources/node_name.hpp>

namespace bench::energy {

// An abstract socket: its name begins with a NUL byte and has no file, and the kernel frees it.
UniqueFd reserve_node_name(const std::string& name) {
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
    throw Error::of_system("cannot reserve a name on this node", errno);
  return {};
}

}  // namespace bench::energy
