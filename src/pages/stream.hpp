#pragma once

// Only built with the HTTP library.

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>

#include <bench/base/unique_fd.hpp>

namespace bench::serve {

/// The stream from which the library reads a request and to which it writes the answer. Only the
/// header is readable. A client that takes less than 64 KiB in 10 s is disconnected.
class HeadStream : public httplib::Stream {
 public:
  HeadStream(const UniqueFd& socket, std::string head, const std::atomic<bool>& ending)
      : socket_(socket), head_(std::move(head)), ending_(ending) {}

  bool has_failed() const { return failed_; }

  bool is_readable() const override { return read_ < head_.size(); }
  bool is_writable() const override { return !failed_; }

  ssize_t read(char* to, std::size_t size) override {
    const std::size_t count = std::min(size, head_.size() - read_);
    head_.copy(to, count, read_);
    read_ += count;
    return static_cast<ssize_t>(count);
  }

  ssize_t write(const char* from, std::size_t size) override {
    std::size_t sent = 0;
    while (!failed_ && sent < size) {
      const ssize_t took = ::send(socket_.get(), from + sent, std::min(size - sent, piece),
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
      if (took > 0)
        note(static_cast<std::size_t>(took)), sent += static_cast<std::size_t>(took);
      else if (took < 0 && (errno == EAGAIN || errno == EINTR))
        failed_ = !waited();
      else
        failed_ = true;
    }
    return failed_ ? -1 : static_cast<ssize_t>(size);
  }

  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip = "127.0.0.1";
    port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    ip = "127.0.0.1";
    port = 0;
  }
  socket_t socket() const override { return socket_.get(); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t piece = 65'536;
  static constexpr std::chrono::seconds patience{10};

  void note(std::size_t bytes) {
    taken_ += bytes;
    if (taken_ < piece)
      return;
    taken_ = 0;
    since_ = Clock::now();
  }

  bool waited() const {
    constexpr int pause_ms = 200;
    pollfd reader{.fd = socket_.get(), .events = POLLOUT, .revents = 0};
    ::poll(&reader, 1, pause_ms);
    return !ending_ && Clock::now() - since_ < patience;
  }

  const UniqueFd& socket_;
  std::string head_;
  std::size_t read_ = 0;
  const std::atomic<bool>& ending_;
  bool failed_ = false;
  std::size_t taken_ = 0;
  Clock::time_point since_ = Clock::now();
};

}  // namespace bench::serve
