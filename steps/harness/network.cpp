#include "harness/network.hpp"

#include "harness/errors.hpp"
#include "harness/ranks.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bench::steps {
namespace {

using AddressList = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;
using Interfaces = std::unique_ptr<ifaddrs, void (*)(ifaddrs*)>;

/// What `host`, a name or digits, is called in the network; empty if it has no address.
AddressList resolve(const std::string& host, int port, int type) {
  addrinfo wanted{};
  wanted.ai_socktype = type;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0)
    found = nullptr;
  return {found, [](addrinfo* list) {
            if (list)
              ::freeaddrinfo(list);
          }};
}

std::string digits_of(const sockaddr* address) {
  std::array<char, NI_MAXHOST> text{};
  const socklen_t bytes =
      address->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (::getnameinfo(address, bytes, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
    return "";
  return text.data();
}

bool is_loopback(const std::string& digits) {
  return digits.starts_with("127.") || digits == "::1";
}

/// The first IPv4 address, else the first IPv6 address, of an interface that `fits`.
template <typename Fits>
std::string address_of_interface(const Fits& fits) {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0)
    return "";
  const Interfaces interfaces(found, &::freeifaddrs);
  for (const int family : {AF_INET, AF_INET6})
    for (const ifaddrs* one = found; one; one = one->ifa_next)
      if (one->ifa_addr && one->ifa_addr->sa_family == family && (one->ifa_flags & IFF_UP) &&
          fits(*one))
        return digits_of(one->ifa_addr);
  return "";
}

/// The address from which this machine would send to that one. Nothing is sent: a datagram socket
/// that connects only asks the routing table.
std::string address_towards(const Ranks& ranks) {
  const AddressList addresses = resolve(ranks.master_address, ranks.master_port, SOCK_DGRAM);
  for (const addrinfo* one = addresses.get(); one; one = one->ai_next) {
    const Socket socket(::socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage own{};
    socklen_t bytes = sizeof own;
    auto* const address = reinterpret_cast<sockaddr*>(&own);
    if (::connect(socket.get(), one->ai_addr, one->ai_addrlen) == 0 &&
        ::getsockname(socket.get(), address, &bytes) == 0)
      return digits_of(address);
  }
  throw UsageError(fmt::format("no way to rank 0: {} has no address here", ranks.master_address),
                   "set MASTER_ADDR to a host name or address that all nodes can reach");
}

/// Whether somebody listens there; also no if nothing is heard within `patience`.
bool is_listening(const std::string& address, int port, std::chrono::milliseconds patience) {
  const AddressList there = resolve(address, port, SOCK_STREAM);
  if (!there)
    return false;
  const Socket socket(::socket(there->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(socket.get(), there->ai_addr, there->ai_addrlen) == 0)
    return true;
  if (errno != EINPROGRESS)
    return false;
  pollfd waited{.fd = socket.get(), .events = POLLOUT, .revents = 0};
  int error = 0;
  socklen_t bytes = sizeof error;
  return ::poll(&waited, 1, static_cast<int>(patience.count())) == 1 &&
         ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 && error == 0;
}

}  // namespace

Socket::~Socket() {
  if (fd_ >= 0)
    ::close(fd_);
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || !name[0])
    return "?";
  return name.data();
}

std::string own_address(const Ranks& ranks) {
  if (ranks.on_one_node())
    return "127.0.0.1";
  if (const char* const wanted = std::getenv("GLOO_SOCKET_IFNAME"); wanted && *wanted) {
    const std::string name(wanted, std::strcspn(wanted, ","));
    const std::string address =
        address_of_interface([&](const ifaddrs& one) { return one.ifa_name == name; });
    if (address.empty())
      throw UsageError(fmt::format("GLOO_SOCKET_IFNAME={}, but there is no such interface with an "
                                   "address",
                                   wanted),
                       "`ip address` lists the interfaces of a node");
    return address;
  }
  std::string address = address_towards(ranks);
  // The node of rank 0 may find its own name at loopback, where the others cannot reach it; who
  // gives loopback as the master's address means this machine alone.
  const bool meant = ranks.master_address == "localhost" || is_loopback(ranks.master_address);
  if (!is_loopback(address) || meant)
    return address;
  const std::string other =
      address_of_interface([](const ifaddrs& one) { return (one.ifa_flags & IFF_LOOPBACK) == 0; });
  return other.empty() ? address : other;
}

Beacon::Beacon(const std::string& address) {
  const AddressList own = resolve(address, 0, SOCK_STREAM);
  if (own)
    socket_ = Socket(::socket(own->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage bound{};
  socklen_t bytes = sizeof bound;
  if (!own || ::bind(socket_.get(), own->ai_addr, own->ai_addrlen) != 0 ||
      ::listen(socket_.get(), SOMAXCONN) != 0 ||
      ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&bound), &bytes) != 0)
    throw std::runtime_error(fmt::format("cannot listen at {}", address));
  port_ = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                            : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

namespace {

using std::chrono::milliseconds;

constexpr milliseconds answer_patience(1000);
constexpr milliseconds end_patience(500);
constexpr milliseconds look_interval(100);

}  // namespace

std::string list_gone(const std::vector<Peer>& peers) {
  std::string gone;
  for (const Peer& peer : peers)
    if (!is_listening(peer.address, peer.beacon_port, answer_patience))
      gone += fmt::format("{}rank {} (process {} on {})", gone.empty() ? "" : ", ", peer.rank,
                          peer.process, peer.host);
  return gone;
}

Peer introduce(int rank, const std::string& address, int beacon_port) {
  return {rank, host_name(), static_cast<int>(::getpid()), address, beacon_port};
}

std::string to_line(const Peer& peer) {
  return fmt::format("{} {} {} {} {}", peer.rank, peer.host, peer.process, peer.address,
                     peer.beacon_port);
}

std::vector<Peer> parse_peers(const std::string& lines) {
  std::vector<Peer> peers;
  std::istringstream in(lines);
  for (Peer peer; in >> peer.rank >> peer.host >> peer.process >> peer.address >> peer.beacon_port;)
    peers.push_back(peer);
  return peers;
}

std::string describe_losses(const std::vector<Peer>& peers) {
  for (milliseconds waited(0); waited <= end_patience; waited += look_interval) {
    if (const std::string gone = list_gone(peers); !gone.empty())
      return fmt::format("gone: {}; the output of the first one says why", gone);
    std::this_thread::sleep_for(look_interval);
  }
  return "all ranks still run; one of them may hang, or need longer than --rank-timeout";
}

}  // namespace bench::steps
