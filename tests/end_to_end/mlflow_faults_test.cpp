// `bench mlflow` against a server that fails, refuses, or holds it to its limits.
#include "mlflow_fixture.hpp"
#include "support/case_name.hpp"
#include "support/patience.hpp"

#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct MlflowFault {
  std::string name;
  std::string faults;
  std::string notice;
};

class MlflowFaultTest : public MlflowServerTest, public testing::WithParamInterface<MlflowFault> {};

TEST_P(MlflowFaultTest, IsOvercomeAndNothingIsDoubled) {
  here_.write("server/faults", GetParam().faults);
  serve();
  const CommandOutput output = send({}, {{"MLFLOW_HTTP_REQUEST_TIMEOUT", "2"}});
  EXPECT_EQ(output.status.code, 0) << output.standard_error;
  EXPECT_THAT(output.standard_error, HasSubstr(GetParam().notice));
  expect_complete();
}

INSTANTIATE_TEST_SUITE_P(
    Faults, MlflowFaultTest,
    testing::Values(MlflowFault{"InternalError",
                                "runs/log-batch 2 status 500\nruns/log-batch 3 status 503\n",
                                "runs/log-batch: HTTP status 503; trying again in 0.02 s\n"},
                    MlflowFault{"TooManyRequests", "runs/create 4 status 429 Retry-After=0.05\n",
                                "runs/create: HTTP status 429; trying again in 0.05 s\n"},
                    MlflowFault{"Reset",
                                "runs/log-batch 3 reset\nruns/update 2 reset\nartifacts 5 reset\n",
                                "runs/log-batch: the connection was closed"},
                    MlflowFault{"LostAnswers",
                                "experiments/create 1 lost answer\nruns/create 1 lost answer\n"
                                "runs/create 5 lost answer\nruns/log-batch 1 lost answer\n"
                                "runs/log-batch 6 lost answer\nruns/search 2 lost answer\n",
                                "experiments/create: the connection was closed"},
                    MlflowFault{"NoAnswer", "runs/log-batch 4 no answer\n",
                                "or no answer came within 2 s; trying again"}),
    support::case_name);

TEST_F(MlflowServerTest, AfterAFailureTheSameCommandSendsTheRest) {
  here_.write("server/faults", "runs/log-batch 5 lost answer\nruns/get 1 status 500\n");
  serve();
  const CommandOutput failed = send({}, {{"MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0"}});
  EXPECT_EQ(failed.status.code, 1);
  EXPECT_THAT(
      failed.standard_error,
      AllOf(HasSubstr("error: " + uri_ + ": runs/log-batch failed: the connection was"),
            HasSubstr(
                "hint: data that was sent is kept; run the same command again to send the rest")));
  here_.write("server/faults", "");
  EXPECT_THAT(send().standard_output, HasSubstr("4 runs created, 0 updated, 5 up to date"));
  expect_complete();
}

struct RefusalCase {
  std::string name;
  std::string faults;
  std::string error;
};

class MlflowRefusalTest : public MlflowServerTest,
                          public testing::WithParamInterface<RefusalCase> {};

TEST_P(MlflowRefusalTest, IsAnErrorThatSaysWhatToDo) {
  here_.write("server/faults", GetParam().faults);
  serve();
  const CommandOutput output = send();
  EXPECT_EQ(output.status.code, 1);
  EXPECT_EQ(output.standard_error, "error: " + uri_ + GetParam().error + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Answers, MlflowRefusalTest,
    testing::Values(
        RefusalCase{"NotJson", "runs/create 3 not json\n",
                    ": the answer to runs/create is not JSON: <html>Please log in</html>\n"
                    "hint: check the address: it is that of the MLflow server itself, not of a "
                    "login page"},
        RefusalCase{"Forbidden", "experiments/get-by-name 1 status 403\n",
                    ": experiments/get-by-name was refused: busy (HTTP status 403)\n"
                    "hint: set MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and "
                    "MLFLOW_TRACKING_PASSWORD"},
        RefusalCase{"Moved", "experiments/get-by-name 1 status 301 Location=https://new\n",
                    ": experiments/get-by-name was refused: busy (HTTP status 301)\n"
                    "hint: the server redirects to https://new: use that address"},
        RefusalCase{"AnotherServer", "experiments/get-by-name 1 status 404\n",
                    ": experiments/get-by-name was refused: busy (HTTP status 404)\n"
                    "hint: check the address: it is that of the MLflow server, without /api or /#"},
        RefusalCase{"ThePageBefore", "runs/search all same page\n",
                    ": runs/search returned the page token '0' twice\n"
                    "hint: this is an error of the server, or of a proxy in front of it"}),
    support::case_name);

struct HostileCase {
  std::string name;
  std::string fault;
  std::string timeout_s;
  std::string error;
};

class HostileServerTest : public MlflowServerTest,
                          public testing::WithParamInterface<HostileCase> {};

TEST_P(HostileServerTest, IsAnErrorAfterALimitedTime) {
  here_.write("server/faults", "runs/search all " + GetParam().fault + "\n");
  serve();
  const CommandOutput output = send({}, {{"MLFLOW_HTTP_REQUEST_TIMEOUT", GetParam().timeout_s},
                                         {"MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0"}});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_EQ(output.standard_error, "error: " + uri_ + ": runs/search " + GetParam().error + "\n");
}

constexpr const char* never_complete =
    "failed: the answer was not complete within 2 s\n"
    "hint: data that was sent is kept; run the same command again to send the rest";
constexpr const char* too_long =
    "failed: the answer has more than 32 MiB\n"
    "hint: this is an error of the server, or of a proxy in front of it";

INSTANTIATE_TEST_SUITE_P(
    Answers, HostileServerTest,
    testing::Values(HostileCase{"EndlessBody", "endless body", "600", too_long},
                    HostileCase{"EndlessHead", "endless head", "600", too_long},
                    HostileCase{"EndlessLine", "endless line", "600", too_long},
                    HostileCase{"SlowBody", "slow body", "1", never_complete},
                    HostileCase{"SlowHead", "slow head", "1", never_complete},
                    HostileCase{"AlwaysAnotherPage", "another page", "600",
                                "returned more than 100 empty pages in a row\n"
                                "hint: this is an error of the server, or of a proxy in front of "
                                "it"}),
    support::case_name);

TEST_F(MlflowServerTest, AHistoryWithoutEndIsAnError) {
  here_.write("server/faults",
              "runs/log-batch all lost answer\nmetrics/get-history all same page\n");
  serve();
  const CommandOutput output = send();
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(output.standard_error, HasSubstr("error: " + uri_ +
                                               ": metrics/get-history returned the page token "
                                               "'0' twice\n"));
}

TEST_F(MlflowServerTest, AServerThatStaysBusyIsGivenUp) {
  here_.write("server/faults", "runs/search all status 503\n");
  serve();
  const CommandOutput output = send({}, {{"MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2"}});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_EQ(
      output.standard_error,
      replace_all("note: URI: runs/search: HTTP status 503; trying again in 0.01 s\n"
                  "note: URI: runs/search: HTTP status 503; trying again in 0.02 s\n"
                  "error: URI: runs/search failed: HTTP status 503: busy\n"
                  "hint: data that was sent is kept; run the same command again to send the rest\n",
                  "URI", uri_));
}

TEST_F(MlflowServerTest, AFileThatIsTooLargeForTheServerIsLeftOut) {
  here_.write("server/faults", "artifacts 1 status 413\n");
  serve();
  const CommandOutput output = send();
  EXPECT_EQ(output.status.code, 0);
  EXPECT_THAT(output.standard_error, HasSubstr("note: input.json was not sent: it is larger"));
  expect_complete();
}

TEST_F(MlflowServerTest, ATokenOpensTheDoor) {
  here_.write("server/token", "Bearer abc");
  serve();
  const CommandOutput refused = send();
  EXPECT_EQ(refused.status.code, 1);
  EXPECT_THAT(refused.standard_error, HasSubstr("UNAUTHENTICATED: who are you (HTTP status 401)"));
  EXPECT_EQ(send({}, {{"MLFLOW_TRACKING_TOKEN", "abc"}}).status.code, 0);
  here_.write("server/token", "Basic bWU6cHc=");
  EXPECT_EQ(send({}, {{"MLFLOW_TRACKING_USERNAME", "me"}, {"MLFLOW_TRACKING_PASSWORD", "pw"}})
                .status.code,
            0);
}

/// The limits are checked by the server.
TEST_F(MlflowServerTest, LongSeriesAndTextsKeepTheLimits) {
  here_.write(
      "training.yaml", R"(name: long
outpath: runs
parameterset: {name: p, parameter: [{name: text, mode: python, _: "'x' * 9000"}]}
step: {name: s, use: p, do: 'seq -f "n=%.0f" 2500; seq 250 | sed "s/.*/v&=&/"'}
patternset:
  name: q
  pattern:
    - {name: n, type: int, _: n=$jube_pat_int}
)" + [] {
        std::string patterns;
        for (int k = 1; k <= 250; ++k)
          patterns +=
              fmt::format("    - {{name: v{}, unit: s, type: int, _: v{}=$jube_pat_int}}\n", k, k);
        return patterns;
      }() + "analyser: {name: a, use: q, analyse: {step: s, file: stdout}}\n");
  run();
  serve();
  const CommandOutput output = send();
  EXPECT_EQ(output.status.code, 0) << output.standard_error;
  EXPECT_EQ(count_of(state(), "  metric n "), 2500U);
  EXPECT_EQ(count_of(state(), "  metric v"), 250U);
  EXPECT_EQ(count_of(state(), "  tag bench.unit.v"), 250U);
  EXPECT_THAT(state(), AllOf(Not(HasSubstr("REFUSED")),
                             HasSubstr("  param text=" + std::string(6000, 'x') + "\n")));
}

TEST_F(MlflowServerTest, ACertificateHasToBeTrusted) {
  ProcessSpec spec = here_.spec({});
  spec.arguments = {"openssl",
                    "req",
                    "-x509",
                    "-newkey",
                    "ec",
                    "-pkeyopt",
                    "ec_paramgen_curve:P-256",
                    "-nodes",
                    "-subj",
                    "/CN=127.0.0.1",
                    "-addext",
                    "subjectAltName=IP:127.0.0.1",
                    "-keyout",
                    "key",
                    "-out",
                    "certificate"};
  if (find_program("openssl").empty() ||
      !run_command(spec, support::far_too_long_s).status.success())
    GTEST_SKIP() << "openssl is not installed";
  serve({"--tls", "certificate", "key"});
  uri_ = replace_all(uri_, "http:", "https:");
  const CommandOutput refused = send({}, {{"MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0"}});
  EXPECT_EQ(refused.status.code, 1);
  EXPECT_THAT(refused.standard_error, HasSubstr("the certificate of the server is not trusted\n"));
  EXPECT_EQ(send({}, {{"MLFLOW_TRACKING_SERVER_CERT_PATH", "certificate"}}).status.code, 0);
  EXPECT_EQ(send({}, {{"MLFLOW_TRACKING_INSECURE_TLS", "true"}}).status.code, 0);
  expect_complete();
}

TEST_F(MlflowServerTest, NobodyListens) {
  uri_ = "http://127.0.0.1:1";
  const CommandOutput output = send({}, {{"MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1"}});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(output.standard_error,
              HasSubstr("error: http://127.0.0.1:1: experiments/get-by-name failed: cannot "
                        "connect\nhint: "));
}

}  // namespace
}  // namespace bench::end_to_end
