#pragma once

#include "bench_program.hpp"
#include "http_request.hpp"
#include "support/eventually.hpp"

#include <csignal>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <bench/base/process.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::end_to_end {

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
