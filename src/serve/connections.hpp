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

/// A connection on which the head of a request has come, as a whole.
struct RequestHead {
  UniqueFd socket;
  std::string text;  ///< With the empty line at its end.
};

/// Connections that wait for their next request. One thread watches all of them, so that a client
/// that sends a byte a second costs a descriptor for some seconds, and no thread.
class Connections {
 public:
  /// @param take gets each request as soon as it is there; called by the thread that watches
  explicit Connections(std::function<void(RequestHead)> take);
  ~Connections();

  /// May be called by any thread. Where there are too many, the one that has waited longest is
  /// closed.
  void add(UniqueFd socket);

  static constexpr std::size_t most_waiting = 512;
  static constexpr std::size_t longest_head = 16'384;  ///< Bytes.
  static constexpr std::chrono::seconds patience{10};  ///< For the head of a request.

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    UniqueFd socket;
    Clock::time_point since;
  };

  void watch();
  /// What is there of the head; takes the connection out where it is whole, or hopeless.
  std::optional<RequestHead> look_at(int socket);
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
