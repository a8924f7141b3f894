#pragma once

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace bench::support {

/// A port of this machine that nobody listens at, and that no other of these objects has. It lies
/// between those of the tests' Slurm clusters and those that Linux hands out by itself.
///
/// Held by a name in the kernel, not by listening: who is told the port is to listen there. The
/// name goes with this process.
class FreePort {
 public:
  FreePort() {
    constexpr int first = 32100;
    constexpr int count = 600;
    for (int k = 0; k < count; ++k) {
      number_ = first + (static_cast<int>(::getpid()) + k) % count;
      if (reserve() && is_free())
        return;
      release();
    }
    throw std::runtime_error("no free port");
  }
  FreePort(const FreePort&) = delete;
  FreePort& operator=(const FreePort&) = delete;
  ~FreePort() { release(); }

  int number() const { return number_; }

 private:
  bool reserve() {
    reservation_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // A name that begins with a null byte is not a file.
    const std::string name = "bench-test-port-" + std::to_string(number_);
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const std::size_t bytes = offsetof(sockaddr_un, sun_path) + 1 + name.size();
    return ::bind(reservation_, reinterpret_cast<const sockaddr*>(&address),
                  static_cast<socklen_t>(bytes)) == 0;
  }

  bool is_free() const {
    const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(number_));
    const bool bound =
        ::bind(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(probe);
    return bound;
  }

  void release() {
    if (reservation_ >= 0)
      ::close(reservation_);
    reservation_ = -1;
  }

  int number_ = 0;
  int reservation_ = -1;
};

}  // namespace bench::support
