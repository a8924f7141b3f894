#include "harness/peers.hpp"

#include "harness/network.hpp"

#include <chrono>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

namespace bench::steps {
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
