#pragma once

#include "harness/ranks.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace bench::steps {

/// Owns the descriptor of a socket and closes it.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket();

  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

/// Of this node; `?` where the system does not say.
std::string host_name();

/// The address, in digits, by which the other ranks reach this process: loopback where one node
/// has all ranks; else that of the interface named first in GLOO_SOCKET_IFNAME (which Gloo itself
/// does not read); else that of the interface on the way to the master. The own host name is not
/// asked: Debian gives it to the loopback interface.
/// @throws UsageError if there is no such interface, or the master's name has no address
std::string own_address(const Ranks& ranks);

/// A port at which this process listens and never answers. The kernel accepts for it, so that
/// others see whether this process still lives, however busy it is.
class Beacon {
 public:
  /// @throws std::runtime_error if nothing can listen at that address of this machine
  explicit Beacon(const std::string& address);

  int port() const { return port_; }

 private:
  Socket socket_;
  int port_ = 0;
};

/// A rank as the others see it: what it tells them when they meet.
struct Peer {
  int rank = 0;  ///< In the whole program.
  std::string host;
  int process = 0;      ///< Its id on that host.
  std::string address;  ///< In digits, for connections to it.
  int beacon_port = 0;  ///< Where its Beacon listens as long as it lives.
};

/// This process.
Peer introduce(int rank, const std::string& address, int beacon_port);

/// One line without an end.
std::string to_line(const Peer& peer);

/// Of the lines of ranks 0, 1, ..., each of which ends.
std::vector<Peer> parse_peers(const std::string& lines);

/// Which of these ranks have ended: `rank 1 (process 4711 on node2), ...`; empty if none has.
std::string list_gone(const std::vector<Peer>& peers);

/// Why an operation with these ranks may have failed, for a message: which of them are gone. A rank
/// that is about to end gets half a second for it.
std::string describe_losses(const std::vector<Peer>& peers);

}  // namespace bench::steps
