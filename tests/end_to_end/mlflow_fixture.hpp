#pragma once

#include "bench_program.hpp"
#include "support/eventually.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <signal.h>

#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {

/// Two iterations with a value for each of three training steps, and a step behind them.
inline constexpr const char* mlflow_training = R"(name: training
outpath: runs
comment: a comment
parameterset: {name: p, parameter: {size: [8, 16]}}
step:
  - name: train
    use: p
    iterations: 2
    do: 'for k in 1 2 3; do echo "loss=$(($size / $k)).5"; done; echo "rate=$size gpu=${GPU:-A100}"'
  - {name: check, depend: train, do: 'test $size$jube_wp_iteration != "${FAIL:-}"'}
patternset:
  name: q
  pattern:
    - {name: loss, type: float, _: loss=$jube_pat_fp}
    - {name: rate, type: int, unit: tokens/s, _: rate=$jube_pat_int}
    - {name: gpu, _: gpu=$jube_pat_wrd}
    - {name: other, type: int, _: other=$jube_pat_int}
analyser: {name: a, use: q, analyse: {step: train, file: stdout}}
result: {use: a, table: {name: t, style: csv, column: [size, rate]}}
)";

/// How often a text occurs.
inline std::size_t count_of(const std::string& text, const std::string& part) {
  return split(text, part).size() - 1;
}

class MlflowTest : public testing::Test {
 protected:
  void SetUp() override {
    here_.write("training.yaml", mlflow_training);
    here_.write("server/requests", "");
  }
  void TearDown() override {
    if (server_) {
      server_->signal_group(SIGKILL);
      server_->wait();
    }
  }

  void run(const Environment& extra = {}) const { here_.bench({"run", "training.yaml"}, extra); }

  /// Starts the server.
  void serve(std::vector<std::string> options = {}) {
    ProcessSpec spec = here_.spec({});
    spec.arguments = {"python3", MLFLOW_SERVER, (here_.path() / "server").string()};
    spec.arguments.insert(spec.arguments.end(), options.begin(), options.end());
    server_.emplace(std::move(spec));
    ASSERT_TRUE(support::eventually([&] { return here_.has("server/port"); }));
    uri_ = "http://127.0.0.1:" + here_.read("server/port");
  }

  CommandOutput send(std::vector<std::string> arguments = {}, Environment extra = {}) const {
    arguments.insert(arguments.begin(), {"mlflow", "runs"});
    extra.emplace_back("MLFLOW_TRACKING_URI", uri_);
    extra.emplace_back("MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR", "0.01");
    extra.emplace_back("no_proxy", "127.0.0.1");
    return here_.bench(std::move(arguments), extra);
  }

  std::string state() const { return here_.read("server/state"); }

  void expect_complete() const {
    const std::string all = state();
    EXPECT_EQ(count_of(all, "\nrun "), 9U) << all;  // itself, and eight workpackages
    EXPECT_EQ(count_of(all, " FINISHED ended\n"), 9U) << all;
    EXPECT_EQ(count_of(all, "  metric loss "), 12U) << all;
    EXPECT_EQ(count_of(all, "bench.sent="), 9U) << all;
    EXPECT_THAT(all, testing::AllOf(testing::Not(testing::HasSubstr("DOUBLED")),
                                    testing::Not(testing::HasSubstr("REFUSED"))));
  }

  Playground here_;
  std::optional<Process> server_;
  std::string uri_;
};

class MlflowServerTest : public MlflowTest {
 protected:
  void SetUp() override {
    MlflowTest::SetUp();
    if (std::string(HTTP_LIBRARY).empty())
      GTEST_SKIP() << "bench was built without cpp-httplib";
    run();
  }
};

}  // namespace bench::end_to_end
