#pragma once

#include "bench_program.hpp"
#include "support/eventually.hpp"

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bench/base/process.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::end_to_end {

/// An answer of HTTP/1.1, its headers and content as they came.
struct HttpAnswer {
  int status = 0;
  std::string head;
  std::string content;
};

inline UniqueFd connected_to(int port) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("cannot connect");
  return socket;
}

inline void send_text(const UniqueFd& socket, const std::string& text) {
  if (::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(text.size()))
    throw std::runtime_error("cannot send");
}

/// Reads until the server closes the connection, which the request has to ask for.
inline HttpAnswer read_answer(const UniqueFd& socket) {
  std::string text;
  std::string piece(1 << 16, '\0');
  for (ssize_t got = 0; (got = ::recv(socket.get(), piece.data(), piece.size(), 0)) > 0;)
    text.append(piece, 0, static_cast<std::size_t>(got));
  const auto end = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.1 ") || end == std::string::npos)
    throw std::runtime_error("no answer: " + text);
  return {std::stoi(text.substr(9, 3)), text.substr(0, end + 2), text.substr(end + 4)};
}

/// What a program sends that no library keeps from it: any path, any headers.
struct HttpRequest {
  std::string method = "GET";
  std::string path = "/";
  std::string host = "127.0.0.1";
  std::string headers = "";  ///< Each with its line end.
  std::string content = "";

  std::string text() const {
    return fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{}\r\n{}", method, path,
                       host, headers, content);
  }
};

inline HttpAnswer ask(int port, const HttpRequest& request) {
  const UniqueFd socket = connected_to(port);
  send_text(socket, request.text());
  return read_answer(socket);
}

/// What a browser shall never find on a page as it is here.
constexpr const char* hostile_text = "<script>alert(1)</script>";

/// Five workpackages, one of which fails, with hostile texts wherever a benchmark can have one.
inline std::string hostile_benchmark() {
  return fmt::format(R"(name: hostile
outpath: runs
comment: '{0}'
parameterset: {{name: p, parameter: [{{n: [1, 2, 3, 4]}}, {{word: '{0}'}}]}}
step:
  - {{name: s, use: p, do: 'echo "speed=$n {0}"; echo "{0}" >&2; test $n -ne 3'}}
  - {{name: t, depend: s, active: $n == 1, do: cp ../../../../power.csv .}}
patternset: {{name: f, pattern: {{name: speed, type: float, unit: it/s, _: speed=$jube_pat_fp}}}}
analyser: {{name: a, use: f, analyse: {{step: s, file: stdout}}}}
result: {{use: a, table: {{name: t, style: pretty, column: [n, word, {{title: '{0}', _: speed}}]}}}}
)",
                     hostile_text);
}

/// Starts `bench serve` in a directory of its own, and ends it by Ctrl-C.
class ServeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string(SERVE_LIBRARY).empty())
      GTEST_SKIP() << "bench was built without cpp-httplib";
  }

  void TearDown() override {
    if (!server_ || server_->poll())
      return;
    server_->signal_group(SIGINT);
    EXPECT_EQ(server_->wait(), (ExitStatus{.code = 0, .signal = SIGINT}));
  }

  void run_hostile_benchmark() const {
    here_.write("power.csv", fmt::format("time_s,{}_w\n0,50\n1,100\n", hostile_text));
    here_.write("hostile.yaml", hostile_benchmark());
    here_.bench({"run", "hostile.yaml", "-r"});
    ASSERT_TRUE(here_.has("runs/000000/workspace.db"));
  }

  void serve(std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), "serve");
    ProcessSpec spec = here_.spec(std::move(arguments));
    const UniqueFd said(
        ::open((here_.path() / "address").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const UniqueFd told(
        ::open((here_.path() / "told").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    spec.stdout_fd = said.get();
    spec.stderr_fd = told.get();
    server_.emplace(spec);
    const std::string line = support::wait_for_line(here_.path() / "address");
    const auto colon = line.find(':', 7);
    const auto slash = line.find('/', 7);
    const auto token = line.find("?token=");
    ASSERT_TRUE(line.starts_with("http://127.0.0.1:") && token != std::string::npos) << line;
    port_ = std::stoi(line.substr(colon + 1, slash - colon - 1));
    place_ = line.substr(slash, token - slash);
    token_ = line.substr(token + 7, line.find('\n') - token - 7);
  }

  std::string cookie() const { return fmt::format("Cookie: bench_serve={}\r\n", token_); }

  HttpAnswer ask(const HttpRequest& request) const { return end_to_end::ask(port_, request); }
  /// As the browser of the user does, once it has the cookie.
  HttpAnswer get(const std::string& page) const {
    return ask({.path = place_ + page, .headers = cookie()});
  }
  /// A page that is there.
  std::string content_of(const std::string& page) const {
    const HttpAnswer answer = get(page);
    EXPECT_EQ(answer.status, 200) << page << "\n" << answer.content;
    return answer.content;
  }

  Playground here_;
  std::optional<Process> server_;
  int port_ = 0;
  std::string place_;
  std::string token_;
};

}  // namespace bench::end_to_end
