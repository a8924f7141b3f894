#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/results/format.hpp>
#include <bench/results/syslog.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

constexpr const char* default_format = "jube[%(process)s]: %(message)s";
constexpr const char* known_fields =
    "known are %(message)s, %(name)s, %(levelname)s, %(process)d, %(asctime)s";
constexpr int default_port = 514;
/// Facility user (1), level info (6). Source: RFC 5424, 6.2.1.
constexpr int priority = 1 * 8 + 6;

/// `2026-01-31 13:05:09,123`, as Python's logging writes it.
std::string time_stamp() {
  const auto now = std::chrono::system_clock::now();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()) % 1000;
  return fmt::format("{},{:03}", local_time(now), milliseconds.count());
}

/// Reads a format of Python's logging.
class LogFormat {
 public:
  LogFormat(const SyslogTarget& target, std::string_view message)
      : target_(target),
        message_(message),
        format_(target.format.empty() ? default_format : target.format) {}

  std::string format() {
    std::string text;
    while (at_ < format_.size()) {
      if (format_[at_] != '%')
        text += format_[at_++];
      else if (format_.compare(at_, 2, "%%") == 0)
        text += format_[(at_ += 2) - 1];
      else
        text += field();
    }
    return text;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Id::invalid_expression,
                fmt::format("the format of syslog '{}' {}", target_.name, what), known_fields,
                target_.place);
  }

  /// `%(name)-10s`: the name, flags, width and type.
  std::string field() {
    const std::size_t begin = at_;
    const std::size_t close = format_.find(')', at_);
    if (format_.compare(at_, 2, "%(") != 0 || close == std::string::npos)
      fail(fmt::format("contains a '%' without a name: '{}'", format_.substr(at_)));
    const std::string name = format_.substr(at_ + 2, close - at_ - 2);
    at_ = close + 1;
    bool to_the_left = false;
    bool zeros = false;
    for (; at_ < format_.size() && (format_[at_] == '-' || format_[at_] == '0'); ++at_)
      (format_[at_] == '-' ? to_the_left : zeros) = true;
    std::size_t width = 0;
    for (; at_ < format_.size() && std::isdigit(static_cast<unsigned char>(format_[at_])); ++at_)
      width =
          std::min<std::size_t>(width * 10 + static_cast<std::size_t>(format_[at_] - '0'), 1000);
    const char type = at_ < format_.size() ? format_[at_++] : '\0';
    if (type != 's' && !(type == 'd' && name == "process"))
      fail(fmt::format("contains '{}', which is not a conversion of Python's logging",
                       format_.substr(begin, at_ - begin)));
    std::string text = value(name);
    const std::size_t missing = width > text.size() ? width - text.size() : 0;
    return to_the_left ? text.append(missing, ' ')
                       : std::string(missing, zeros && type == 'd' ? '0' : ' ') + text;
  }

  std::string value(const std::string& name) const {
    if (name == "message")
      return std::string(message_);
    if (name == "name")
      return target_.name;
    if (name == "levelname")
      return "INFO";
    if (name == "process")
      return std::to_string(::getpid());
    if (name == "asctime")
      return time_stamp();
    fail(fmt::format("contains the unknown name '{}'", name));
  }

  const SyslogTarget& target_;
  std::string_view message_;
  std::string format_;
  std::size_t at_ = 0;
};

[[noreturn]] void cannot_reach(const SyslogTarget& target, const std::string& where,
                               const std::string& why) {
  throw Error(Id::server_failed,
              fmt::format("cannot send to syslog '{}' at {}: {}", target.name, where, why),
              "check that a server listens there", target.place);
}

UniqueFd connect_to_path(const SyslogTarget& target) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (target.address.size() >= sizeof address.sun_path)
    cannot_reach(target, target.address, "the path is too long for a socket");
  target.address.copy(address.sun_path, target.address.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid() ||
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    cannot_reach(target, target.address, std::strerror(errno));
  return fd;
}

UniqueFd connect_to_host(const SyslogTarget& target) {
  const std::string port = std::to_string(target.port ? target.port : default_port);
  const std::string where = target.host + ":" + port;
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_DGRAM;
  addrinfo* answer = nullptr;
  if (const int code = ::getaddrinfo(target.host.c_str(), port.c_str(), &wanted, &answer))
    cannot_reach(target, where, ::gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(answer, ::freeaddrinfo);
  UniqueFd fd(::socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, found->ai_protocol));
  if (!fd.valid() || ::connect(fd.get(), found->ai_addr, found->ai_addrlen) != 0)
    cannot_reach(target, where, std::strerror(errno));
  return fd;
}

}  // namespace

std::vector<std::string> messages_of(const Table& rows) {
  std::vector<std::string> messages;
  for (const auto& cells : rows.rows) {
    std::vector<std::string> pieces;
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const Heading& heading = rows.headings[k];
      pieces.push_back(heading.name + "=" +
                       (cells[k].value
                            ? format_value(*cells[k].value, cells[k].format, heading.place)
                            : "None"));
    }
    messages.push_back(join(pieces, " "));
  }
  return messages;
}

std::string formatted(const SyslogTarget& target, std::string_view message) {
  return LogFormat(target, message).format();
}

void send(const SyslogTarget& target, std::span<const std::string> messages) {
  if (target.address.empty() == target.host.empty())
    throw Error(Id::invalid_value,
                fmt::format("syslog '{}' has {}", target.name,
                            target.host.empty() ? "no address" : "an address and a host"),
                "give either `address`, the path of a socket, or `host` and `port`", target.place);
  std::vector<std::string> datagrams;
  for (const std::string& message : messages)
    datagrams.push_back(fmt::format("<{}>{}", priority, formatted(target, message)));
  const UniqueFd fd = target.host.empty() ? connect_to_path(target) : connect_to_host(target);
  for (const std::string& datagram : datagrams)
    if (::send(fd.get(), datagram.c_str(), datagram.size() + 1, MSG_NOSIGNAL) < 0)
      cannot_reach(target, target.host.empty() ? target.address : target.host,
                   std::strerror(errno));
}

}  // namespace bench::results
