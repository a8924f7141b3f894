#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/results/table.hpp>

namespace bench::results {

/// Where messages go: the path of a local datagram socket, or a host.
struct SyslogTarget {
  std::string name;  ///< What `%(name)s` stands for.
  std::string address;
  std::string host;
  int port = 0;        ///< Of UDP; 0: 514, the port of syslog (RFC 5426, 3.3).
  std::string format;  ///< As Python's logging takes it; empty: `jube[%(process)s]: %(message)s`.
  Place place;
};

/// One message per row, `n=001 s=a b nothere=None`: names, not titles, and no units.
/// @throws Error if a value does not fit its format
std::vector<std::string> messages_of(const Table& rows);

/// A message as the target's format writes it. Of Python's logging it takes `%(message)s`,
/// `%(name)s`, `%(levelname)s`, `%(process)d`, `%(asctime)s`, with flags and a width, and `%%`.
/// @throws Error with the target's place if the format holds anything else
std::string formatted(const SyslogTarget& target, std::string_view message);

/// Sends the messages with facility user and level info, one datagram each, which ends in a NUL as
/// Python's SysLogHandler writes it.
/// @throws Error if there is not exactly one of address and host, or if nobody listens there
void send(const SyslogTarget& target, std::span<const std::string> messages);

}  // namespace bench::results
