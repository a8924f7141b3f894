#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <bench/base/unique_fd.hpp>

namespace bench::serve {

/// A connection on which a complete request header has arrived.
struct RequestHead {
  UniqueFd socket;
  std::string text;  ///< Ends with the empty line.
};

/// Connections that wait for their next request, all watched by one thread. A client that sends one
/// byte per second occupies a descriptor for a few seconds, but no thread.
class Connections {
 public:
  /// @param take called on the watching thread with each complete request
  explicit Connections(std::function<void(RequestHead)> take);
  ~Connections();

  /// Thread-safe. If there are too many connections, closes the one that has waited longest.
  void add(UniqueFd socket);

  static constexpr std::size_t most_waiting = 512;
  static constexpr std::size_t longest_head = 16'384;  ///< Bytes.
  static constexpr std::chrono::seconds patience{10};  ///< For a request header to arrive.

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    UniqueFd socket;
    Clock::time_point since;
  };

  void watch();
  /// Checks what has arrived of a header. Removes the connection if the header is complete or
  /// invalid.
  std::optional<RequestHead> check_header(int socket);
  void close_late_ones();

  std::function<void(RequestHead)> take_;
  UniqueFd events_;
  UniqueFd wake_;
  std::mutex mutex_;
  std::map<int, Waiting> waiting_;  ///< By descriptor.
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace bench::serve
