// `bench serve` against those who should see nothing, want more than runs, or keep it busy.
#include "end_to_end/bench_program.hpp"
#include "serve_fixture.hpp"
#include "support/report_library.hpp"
#include "support/sanitizer.hpp"

#include <atomic>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <bench/base/unique_fd.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ServeSecurityTest : public ServeTest {};

TEST_F(ServeSecurityTest, TheTokenBecomesACookieOfThisServerAlone) {
  serve();
  const HttpAnswer answer = ask({.path = place_ + "?token=" + token_});
  EXPECT_EQ(answer.status, 303);
  EXPECT_THAT(answer.head,
              AllOf(HasSubstr("Location: " + place_ + "\r\n"),
                    HasSubstr(fmt::format("Set-Cookie: bench_serve={}; Path={}; HttpOnly; "
                                          "SameSite=Strict\r\n",
                                          token_, place_))));
  EXPECT_EQ(get("").status, 200);
}

TEST_F(ServeSecurityTest, WithoutTheTokenNothingIsShown) {
  run_hostile_benchmark();
  serve();
  const std::string wrong(token_.size(), '0');
  const HttpRequest requests[] = {
      {.path = place_},
      {.path = "/"},
      {.path = "/", .headers = cookie()},
      {.path = "/page.css", .headers = cookie()},
      {.path = place_ + "page.css"},
      {.path = place_ + "?token=" + wrong},
      {.path = place_ + "?token="},
      {.path = place_ + "?token=" + token_ + "0"},
      {.path = "/?token=" + token_},
      {.path = place_ + "run?name=runs/000000&token=" + token_},
      {.path = place_, .headers = "Cookie: bench_serve=" + wrong + "\r\n"},
      {.path = place_, .headers = "Cookie: other=" + token_ + "\r\n"},
      {.path = place_ + "download?name=runs/000000&path=run.log"}};
  for (const HttpRequest& request : requests) {
    const HttpAnswer answer = ask(request);
    EXPECT_EQ(answer.status, 403) << request.path;
    EXPECT_THAT(answer.content, Not(HasSubstr("hostile"))) << request.path;
    EXPECT_THAT(answer.head, Not(HasSubstr("Set-Cookie"))) << request.path;
  }
}

TEST_F(ServeSecurityTest, ANameThatOnlyResolvesToThisMachineIsRefused) {
  serve();
  for (const char* host : {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80"})
    EXPECT_EQ(ask({.path = place_, .host = host, .headers = cookie()}).status, 403) << host;
  for (const char* host : {"localhost", "127.0.0.1:1", "localhost:9999"})  // ports of tunnels
    EXPECT_EQ(ask({.path = place_, .host = host, .headers = cookie()}).status, 200) << host;
}

TEST_F(ServeSecurityTest, OnlyShows) {
  serve();
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
    const HttpAnswer answer = ask({.method = method,
                                   .path = place_,
                                   .headers = cookie() + "Content-Length: 3\r\n",
                                   .content = "a=b"});
    EXPECT_EQ(answer.status, 405) << method;
  }
  EXPECT_EQ(
      ask({.path = place_, .headers = cookie() + "Content-Length: 3\r\n", .content = "a=b"}).status,
      405);
  const HttpAnswer head = ask({.method = "HEAD", .path = place_, .headers = cookie()});
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.content, "");
}

TEST_F(ServeSecurityTest, NoPathLeadsOut) {
  here_.write("secret/000000/secret.txt", "secret\n");
  here_.write("served/small.yaml", small_sweep());
  here_.bench({"run", "served/small.yaml"});
  fs::create_symlink(here_.path() / "secret/000000/secret.txt",
                     here_.path() / "served/runs/000000/link.txt");
  fs::create_directory_symlink(here_.path() / "secret", here_.path() / "served/linked");
  fs::create_directory_symlink(here_.path() / "secret", here_.path() / "served/runs/000000/linked");
  serve({"served"});
  ASSERT_EQ(get("download?name=runs/000000&path=run.log").status, 200);
  const std::string absolute = (here_.path() / "secret/000000/secret.txt").string();
  const std::string run = "?name=runs/000000&path=";
  for (const char* page : {"download", "file"})
    for (const std::string& rest :
         {run + "../../../secret/000000/secret.txt",
          run + "..%2f..%2f..%2fsecret%2f000000%2fsecret.txt",
          run + "%2e%2e/%2e%2e/%2e%2e/secret/000000/secret.txt", run + absolute,
          run + "/" + absolute, run + "link.txt", run + "linked/000000/secret.txt",
          run + "run.log%00", run + ".", run + "",
          std::string("?name=../secret/000000&path=secret.txt"),
          std::string("?name=linked/000000&path=secret.txt"),
          std::string("?name=runs&path=000000/run.log"),
          "?name=" + (here_.path() / "secret/000000").string() + "&path=secret.txt"}) {
      const HttpAnswer answer = get(page + rest);
      EXPECT_EQ(answer.status, 404) << page << rest;
      EXPECT_THAT(answer.content, Not(HasSubstr("secret\n"))) << page << rest;
    }
  for (const char* path : {"../page.css", "%2e%2e/page.css", "/etc/passwd",
                           "../../../../etc/passwd", "..%2f..%2fetc/passwd"})
    EXPECT_NE(get(path).status, 200) << path;
}

TEST_F(ServeSecurityTest, WhatRunsContainIsText) {
  run_hostile_benchmark();
  serve();
  for (const char* page :
       {"", "run?name=runs/000000", "tables?name=runs/000000", "workpackage?name=runs/000000&id=2",
        "workpackage?name=runs/000000&id=4", "file?name=runs/000000&path=000000_s/work/stdout"}) {
    const HttpAnswer answer = get(page);
    EXPECT_THAT(answer.content, AllOf(Not(HasSubstr(hostile_text)),
                                      HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;")))
        << page;
    EXPECT_THAT(answer.head,
                AllOf(HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'; "),
                      Not(HasSubstr("unsafe")), HasSubstr("X-Content-Type-Options: nosniff\r\n")))
        << page;
  }
  for (const std::string& page : {std::string("run?name=%3Cscript%3E"), std::string("%3Cscript%3E"),
                                  std::string("file?name=runs/000000&path=%3Cscript%3E"),
                                  std::string("workpackage?name=runs/000000&id=%3Cscript%3E"),
                                  std::string("compare?a=%3Cscript%3E&b=x")}) {
    const HttpAnswer answer = get(page);
    EXPECT_EQ(answer.status, 404) << page;
    EXPECT_THAT(answer.content, Not(HasSubstr("<script>"))) << page;
  }
}

TEST_F(ServeSecurityTest, AReportReachesNoOtherPage) {
  if (!support::has_report_library(BUILD_DIRECTORY))
    GTEST_SKIP() << "npm has not fetched Vega";
  run_hostile_benchmark();
  serve();
  const HttpAnswer answer = get("report?name=runs/000000");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.content,
              AllOf(HasSubstr("content=\"bench report\""), Not(HasSubstr(hostile_text))));
  EXPECT_THAT(answer.head,
              AllOf(HasSubstr("Content-Security-Policy: sandbox allow-scripts "),
                    Not(HasSubstr("allow-same-origin")), Not(HasSubstr("default-src"))));
}

std::size_t descriptors_of(int pid) {
  const fs::directory_iterator entries(fmt::format("/proc/{}/fd", pid));
  return static_cast<std::size_t>(std::distance(entries, fs::directory_iterator()));
}

long long resident_kib_of(int pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:"))
      return std::stoll(line.substr(6));
  return 0;
}

TEST_F(ServeSecurityTest, TenThousandRequestsLeaveNothingBehind) {
  here_.write("small.yaml", small_sweep());
  here_.bench({"run", "small.yaml", "-r"});
  serve();
  constexpr int clients = 8;
  const auto ask_many = [&](int requests) {
    std::atomic<int> answered{0};
    std::vector<std::thread> threads;
    for (int k = 0; k < clients; ++k)
      threads.emplace_back([&, k] {
        const char* pages[] = {"news/runs", "page.css", "workpackage?name=runs/000000&id=1",
                               "absent"};
        for (int number = 0; number < requests; ++number)
          answered += get(pages[(number + k) % 4]).status > 0 ? 1 : 0;
      });
    for (std::thread& thread : threads)
      thread.join();
    return answered.load();
  };
  ask_many(50);
  const std::size_t descriptors = descriptors_of(server_->pid());
  const long long resident_kib = resident_kib_of(server_->pid());
  EXPECT_EQ(ask_many(1250), 10'000);
  constexpr std::size_t may_still_be_closing = clients;
  EXPECT_LE(descriptors_of(server_->pid()), descriptors + may_still_be_closing);
  if (!support::sanitized) {
    EXPECT_LE(resident_kib_of(server_->pid()), resident_kib + 16 * 1024);
  }
}

TEST_F(ServeSecurityTest, OneConnectionTakesManyRequests) {
  serve();
  const UniqueFd socket = connected_to(port_);
  const std::string request =
      fmt::format("GET {}page.css HTTP/1.1\r\nHost: localhost\r\n{}\r\n", place_, cookie());
  send_text(socket, request + request + request);  // behind one another, without waiting
  send_text(socket, HttpRequest{.path = place_, .headers = cookie()}.text());
  const HttpAnswer answer = read_answer(socket);
  std::size_t answers = 1;
  for (auto at = answer.content.find("HTTP/1.1 200"); at != std::string::npos;
       at = answer.content.find("HTTP/1.1 200", at + 1))
    ++answers;
  EXPECT_EQ(answers, 4U);
}

TEST_F(ServeSecurityTest, SlowClientsKeepNobodyWaiting) {
  serve();
  std::vector<UniqueFd> slow;
  constexpr int more_than_may_wait = 600;
  for (int k = 0; k < more_than_may_wait; ++k) {
    slow.push_back(connected_to(port_));
    send_text(slow.back(), "GET / HT");
    if (k % 100 == 0) {
      EXPECT_EQ(get("").status, 200);
    }
  }
  for (const char* bytes : {"T", "P", "/"}) {
    for (std::size_t k = slow.size() - 20; k < slow.size(); ++k)
      send_text(slow[k], bytes);
    EXPECT_EQ(get("page.css").status, 200);
  }
  EXPECT_LT(descriptors_of(server_->pid()), 560U);
  char nothing = 0;
  EXPECT_LE(::recv(slow.back().get(), &nothing, 1, 0), 0) << "the server has lost patience";
}

TEST_F(ServeSecurityTest, AReaderThatStopsKeepsNobodyWaiting) {
  here_.write("small.yaml", small_sweep());
  here_.bench({"run", "small.yaml"});
  {
    std::ofstream large(here_.path() / "runs/000000/large");
    const std::string megabyte(1 << 20, 'x');
    for (int k = 0; k < 64; ++k)
      large << megabyte;
  }
  serve();
  std::vector<UniqueFd> stopped;
  for (int k = 0; k < 12; ++k) {
    stopped.push_back(connected_to(port_));
    send_text(stopped.back(), HttpRequest{.path = place_ + "download?name=runs/000000&path=large",
                                          .headers = cookie()}
                                  .text());
  }
  EXPECT_EQ(get("").status, 200);
  EXPECT_EQ(get("news/run?name=runs/000000").status, 200);
}

TEST_F(ServeSecurityTest, APartOfAFileIsAllOfIt) {
  here_.write("runs/000000/workspace.db", "");
  here_.write("runs/000000/small.txt", "hello\n");
  serve();
  for (const char* part : {"1-2", "4-100", "100-", "-100", "9223372036854775807-", "1-2,3-4"})
    for (const char* header : {"Range", "RANGE"}) {
      const HttpAnswer answer =
          ask({.path = place_ + "download?name=runs/000000&path=small.txt",
               .headers = cookie() + fmt::format("{}: bytes={}\r\n", header, part)});
      EXPECT_EQ(answer.status, 200) << part;
      EXPECT_EQ(answer.content, "hello\n") << part;
      EXPECT_THAT(answer.head,
                  AllOf(HasSubstr("Content-Length: 6\r\n"), HasSubstr("Accept-Ranges: none\r\n")))
          << part;
    }
}

TEST_F(ServeSecurityTest, WhatIsNoRequestEndsTheConnection) {
  serve();
  for (const std::string& text :
       {std::string("\r\n\r\n"), std::string("nonsense\r\n\r\n"),
        std::string("GET / HTTP/9.9\r\n\r\n"),
        "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: localhost\r\n\r\n"}) {
    const UniqueFd socket = connected_to(port_);
    send_text(socket, text);
    ::shutdown(socket.get(), SHUT_WR);
    std::string answer(1000, '\0');
    const ssize_t got = ::recv(socket.get(), answer.data(), answer.size(), MSG_WAITALL);
    answer.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    EXPECT_THAT(answer, Not(HasSubstr(" 200 "))) << text;
  }
  EXPECT_EQ(get("").status, 200);
}

}  // namespace
}  // namespace bench::end_to_end
