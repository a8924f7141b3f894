#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <bench/base/unique_fd.hpp>
#include <bench/results/syslog.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

SyslogTarget target(const std::string& format) {
  return {.name = "log", .format = format, .place = {"in.yaml", 3, 5}};
}

TEST(SyslogMessages, NameTheValuesAndShowNoUnits) {
  Table rows;
  rows.headings = {{.title = "N", .unit = "GB", .name = "n"},
                   {.title = "s", .name = "s"},
                   {.title = "x", .name = "nothere"}};
  rows.rows = {{{.value = 1LL, .format = "03d"}, {.value = "a b"}, {}}};
  EXPECT_EQ(messages_of(rows), std::vector<std::string>{"n=001 s=a b nothere=None"});
}

TEST(SyslogFormat, IsThatOfJubeWithoutOne) {
  EXPECT_EQ(formatted(target(""), "n=1"), "jube[" + std::to_string(::getpid()) + "]: n=1");
}

TEST(SyslogFormat, TakesFieldsOfPythonsLogging) {
  const std::string pid = std::to_string(::getpid());
  EXPECT_EQ(
      formatted(target("%(levelname)-6s|%(levelname)6s|%(name)s|%(process)010d|100%%"), "n=1"),
      "INFO  |  INFO|log|" + std::string(10 - pid.size(), '0') + pid + "|100%");
  EXPECT_THAT(
      formatted(target("%(asctime)s %(message)s"), "n=1"),
      testing::MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3} n=1"));
}

TEST(SyslogFormat, RefusesWhatItDoesNotKnow) {
  const auto error_of_format = [](const std::string& format) {
    return support::error_of([&] { formatted(target(format), "n=1"); });
  };
  const std::string hint =
      "\nhint: known are %(message)s, %(name)s, %(levelname)s, %(process)d, %(asctime)s";
  EXPECT_EQ(error_of_format("%(lineno)d"),
            "in.yaml:3:5: error: the format of syslog 'log' contains '%(lineno)d', which is not a "
            "conversion of Python's logging" +
                hint);
  EXPECT_EQ(
      error_of_format("%(lineno)s"),
      "in.yaml:3:5: error: the format of syslog 'log' contains the unknown name 'lineno'" + hint);
  EXPECT_EQ(error_of_format("50% %(message)s"),
            "in.yaml:3:5: error: the format of syslog 'log' contains a '%' without a name: '% "
            "%(message)s'" +
                hint);
}

/// The next datagram, as it is.
std::string received(const UniqueFd& fd) {
  std::string text(1000, '?');
  const auto size = ::recv(fd.get(), text.data(), text.size(), MSG_DONTWAIT);
  text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return text;
}

TEST(SyslogSend, GoesToASocketWithPriorityAndNul) {
  const support::TempDirectory directory;
  const std::string path = (directory.path() / "log").string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  const UniqueFd server(::socket(AF_UNIX, SOCK_DGRAM, 0));
  ASSERT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  SyslogTarget to = target("%(message)s");
  to.address = path;
  send(to, std::vector<std::string>{"n=1", "n=2"});
  EXPECT_EQ(received(server), std::string("<14>n=1\0", 8));
  EXPECT_EQ(received(server), std::string("<14>n=2\0", 8));
}

TEST(SyslogSend, GoesToAHostByUdp) {
  const UniqueFd server(::socket(AF_INET, SOCK_DGRAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  SyslogTarget to = target("%(message)s");
  to.host = "127.0.0.1";
  to.port = ntohs(address.sin_port);
  send(to, std::vector<std::string>{"n=1"});
  EXPECT_EQ(received(server), std::string("<14>n=1\0", 8));
}

TEST(SyslogSend, NeedsEitherAnAddressOrAHost) {
  SyslogTarget to = target("");
  const std::string hint =
      "\nhint: give either `address`, the path of a socket, or `host` and `port`";
  EXPECT_EQ(support::error_of([&] { send(to, {}); }),
            "in.yaml:3:5: error: syslog 'log' has no address" + hint);
  to.address = "/dev/log";
  to.host = "localhost";
  EXPECT_EQ(support::error_of([&] { send(to, {}); }),
            "in.yaml:3:5: error: syslog 'log' has an address and a host" + hint);
}

TEST(SyslogSend, SaysWhereNobodyListens) {
  SyslogTarget to = target("");
  to.address = "/nowhere/log";
  EXPECT_EQ(support::error_of([&] { send(to, std::vector<std::string>{"n=1"}); }),
            "in.yaml:3:5: error: cannot send to syslog 'log' at /nowhere/log: No such file or "
            "directory\nhint: check that a server listens there");
}

}  // namespace
}  // namespace bench::results
