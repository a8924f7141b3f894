#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace bench::steps {

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
