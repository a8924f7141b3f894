#include "connections.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::serve {

Connections::Connections(std::function<void(RequestHead)> take)
    : take_(std::move(take)),
      events_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = wake_.get()}};
  if (!events_.valid() || !wake_.valid() ||
      ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0)
    throw Error::of_system("cannot watch connections", errno);
  thread_ = std::thread([this] { watch(); });
}

Connections::~Connections() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  const std::uint64_t one = 1;
  while (::write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
  thread_.join();
}

void Connections::add(UniqueFd socket) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= most_waiting)
    waiting_.erase(
        std::ranges::min_element(waiting_, {}, [](const auto& one) { return one.second.since; }));
  const int number = socket.get();
  waiting_[number] = {std::move(socket), Clock::now()};
  // Edge-triggered: the header is only peeked at, and stays readable until it is complete.
  epoll_event event{.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data = {.fd = number}};
  if (::epoll_ctl(events_.get(), EPOLL_CTL_ADD, number, &event) != 0)
    waiting_.erase(number);
}

std::optional<RequestHead> Connections::check_header(int socket) {
  const std::lock_guard lock(mutex_);
  const auto found = waiting_.find(socket);
  if (found == waiting_.end())
    return std::nullopt;
  std::string text(longest_head, '\0');
  const ssize_t got = ::recv(socket, text.data(), text.size(), MSG_PEEK | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
    return std::nullopt;
  constexpr std::string_view end_of_head = "\r\n\r\n";
  const auto end =
      std::string_view(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0).find(end_of_head);
  if (end == std::string_view::npos) {
    if (got <= 0 || static_cast<std::size_t>(got) == longest_head)
      waiting_.erase(found);
    return std::nullopt;
  }
  text.resize(end + end_of_head.size());
  ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, socket, nullptr);
  RequestHead head{std::move(found->second.socket), std::move(text)};
  waiting_.erase(found);
  // Data after the header stays in the socket for the next read.
  if (::recv(socket, head.text.data(), head.text.size(), MSG_DONTWAIT) !=
      static_cast<ssize_t>(head.text.size()))
    return std::nullopt;
  return head;
}

void Connections::close_late_ones() {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  std::erase_if(waiting_, [&](const auto& one) { return now - one.second.since > patience; });
}

void Connections::watch() {
  constexpr int second_ms = 1000;
  std::array<epoll_event, 64> arrived{};
  for (;;) {
    const int count = ::epoll_wait(events_.get(), arrived.data(), arrived.size(), second_ms);
    {
      const std::lock_guard lock(mutex_);
      if (ending_)
        return;
    }
    for (int k = 0; k < count; ++k)
      if (auto head = check_header(arrived[static_cast<std::size_t>(k)].data.fd))
        take_(std::move(*head));
    close_late_ones();
  }
}

}  // namespace bench::serve
