#include "outcome.hpp"
#include "support/environment_variable.hpp"
#include "support/temp_directory.hpp"

#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/error.hpp>
#include <bench/evaluate/evaluator.hpp>

namespace bench::evaluate {
namespace {

using support::EnvironmentVariable;

Outcome evaluate_one(Mode mode, const std::string& text, double timeout_s = 250) {
  const std::vector<Request> requests = {{mode, text}};
  return Evaluator(timeout_s).evaluate(requests).at(0);
}

std::string rendered_error(Mode mode) {
  try {
    evaluate_one(mode, "1");
  } catch (const Error& failure) {
    return render(failure);
  }
  return "";
}

TEST(Shell, KeepsTheLastNewline) {
  EXPECT_EQ(evaluate_one(Mode::shell, "echo 2024.01"), value("2024.01\n"));
  EXPECT_EQ(evaluate_one(Mode::shell, "printf 'a b'"), value("a b"));
  EXPECT_EQ(evaluate_one(Mode::shell, ""), value(""));
}

TEST(Shell, RunsInTheCurrentDirectory) {
  EXPECT_EQ(evaluate_one(Mode::shell, "pwd -P"),
            value(std::filesystem::canonical(std::filesystem::current_path()).string() + "\n"));
}

TEST(Shell, FailureGivesTheStatusAndTheLastLinesOfStandardError) {
  EXPECT_EQ(evaluate_one(Mode::shell, "exit 3"), error("exit code 3"));
  EXPECT_EQ(evaluate_one(Mode::shell, "seq 9 >&2; echo out; exit 1"),
            error("exit code 1: 5\n6\n7\n8\n9"));
  EXPECT_EQ(evaluate_one(Mode::shell, "kill -9 $$"), error("signal 9 (Killed)"));
}

TEST(Shell, StandardErrorOfASuccessIsNoError) {
  EXPECT_EQ(evaluate_one(Mode::shell, "echo a; echo warning >&2"), value("a\n"));
}

TEST(Shell, TooSlowIsAnOutcome) {
  EXPECT_EQ(evaluate_one(Mode::shell, "sleep 100", 0.2), error("no answer within 0.2 s"));
}

TEST(Shell, OutputIsMadeValid) {
  EXPECT_EQ(evaluate_one(Mode::shell, "printf 'a\\377b'"), value("a\xEF\xBF\xBD"
                                                                 "b"));
}

TEST(Shell, IsChosenByTheEnvironment) {
  const EnvironmentVariable shell("JUBE_EXEC_SHELL", "/bin/echo");
  EXPECT_EQ(evaluate_one(Mode::shell, "hi"), value("-c hi\n"));
}

TEST(Shell, ThatIsMissingIsAnError) {
  const EnvironmentVariable shell("JUBE_EXEC_SHELL", "/nonexistent/shell");
  EXPECT_EQ(rendered_error(Mode::shell),
            "error: the shell '/nonexistent/shell' is not found\n"
            "hint: JUBE_EXEC_SHELL names it");
}

TEST(Perl, PrintsThroughTheShell) {
  if (std::system("perl -e 1 2>/dev/null") != 0)
    GTEST_SKIP() << "no perl here";
  const EnvironmentVariable variable("BENCH_TEST_NUMBER", "6");
  EXPECT_EQ(evaluate_one(Mode::perl, "3*2 . 'x'"), value("6x"));
  EXPECT_EQ(evaluate_one(Mode::perl, "$BENCH_TEST_NUMBER*7"), value("42"));
  EXPECT_THAT(evaluate_one(Mode::perl, "die 'no'").error, testing::StartsWith("exit code 255: no"));
}

TEST(Env, GivesTheVariableOrNamesIt) {
  const EnvironmentVariable variable("BENCH_TEST_LIST", "a, b\n");
  EXPECT_EQ(evaluate_one(Mode::env, "BENCH_TEST_LIST"), value("a, b\n"));
  EXPECT_EQ(evaluate_one(Mode::env, "BENCH_TEST_NONE"),
            error("the environment variable 'BENCH_TEST_NONE' is not set"));
}

TEST(Text, IsItsOwnValue) {
  EXPECT_EQ(evaluate_one(Mode::text, " $a "), value(" $a "));
}

TEST(Evaluate, KeepsTheOrderOfMixedModes) {
  const std::vector<Request> requests = {{Mode::python, "1+1"},
                                         {Mode::text, "1+1"},
                                         {Mode::shell, "echo $((1+2))"},
                                         {Mode::python, "1/0"},
                                         {Mode::python, "2**3"}};
  EXPECT_EQ(Evaluator().evaluate(requests),
            (std::vector<Outcome>{value("2"), value("1+1"), value("3\n"),
                                  error("ZeroDivisionError: division by zero"), value("8")}));
  EXPECT_TRUE(Evaluator().evaluate({}).empty());
}

TEST(Python, IsNotNeededWithoutAPythonText) {
  const EnvironmentVariable path("PATH", "/nonexistent");
  const EnvironmentVariable python("BENCH_PYTHON", "");
  const std::vector<std::string> words = {"true", " FALSE ", ""};
  EXPECT_EQ(
      Evaluator().evaluate_truth(words),
      (std::vector<Outcome>{value("True"), value("False"), error("the expression is empty")}));
  EXPECT_EQ(evaluate_one(Mode::text, "a"), value("a"));
  EXPECT_EQ(rendered_error(Mode::python),
            "error: no Python interpreter 'python3'\n"
            "hint: mode: python and conditions need Python 3; install it, or name one in "
            "BENCH_PYTHON");
}

TEST(Python, ThatIsMissingIsAnError) {
  const EnvironmentVariable python("BENCH_PYTHON", "/nonexistent/python");
  EXPECT_THAT(rendered_error(Mode::python),
              testing::StartsWith("error: no Python interpreter '/nonexistent/python'\n"));
}

TEST(Python, IsChosenByTheEnvironment) {
  const EnvironmentVariable python("BENCH_PYTHON", "/bin/false");
  EXPECT_EQ(rendered_error(Mode::python),
            "error: '/bin/false' does not run as a Python interpreter\n"
            "hint: mode: python and conditions need Python 3; install it, or name one in "
            "BENCH_PYTHON");
}

TEST(Python, ThatGreetsWronglyIsRefused) {
  const EnvironmentVariable python("BENCH_PYTHON", "/bin/echo");
  EXPECT_THAT(rendered_error(Mode::python), testing::HasSubstr("does not run as a Python"));
}

TEST(Python, BehindAShellScriptDoesNotMindWhatBashReadsFirst) {
  const support::TempDirectory directory;
  const auto script = directory.write("python", "#!/bin/bash\nexec python3 \"$@\"\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const EnvironmentVariable bash("BASH_ENV", directory.write("noise", "echo hello\n").string());
  const EnvironmentVariable python("BENCH_PYTHON", script.string());
  EXPECT_EQ(evaluate_one(Mode::python, "1 + 1"), value("2"));
}

struct TruthCase {
  std::string expression;
  Outcome expected;
};
void PrintTo(const TruthCase& c, std::ostream* out) {
  *out << c.expression;
}

class TruthTest : public testing::TestWithParam<TruthCase> {
 protected:
  static inline Evaluator evaluator{};
};

TEST_P(TruthTest, IsAsInPython) {
  const std::vector<std::string> expressions = {GetParam().expression};
  EXPECT_EQ(evaluator.evaluate_truth(expressions).at(0), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Expressions, TruthTest,
    testing::Values(TruthCase{"true", value("True")}, TruthCase{"False", value("False")},
                    TruthCase{"0", value("False")}, TruthCase{"2", value("True")},
                    TruthCase{"'x'", value("True")}, TruthCase{"''", value("False")},
                    TruthCase{"5>3", value("True")}, TruthCase{"'a' in 'abc'", value("True")},
                    TruthCase{"not True", value("False")}, TruthCase{" 4 != 2 ", value("True")},
                    TruthCase{"", error("the expression is empty")},
                    TruthCase{" \n", error("the expression is empty")},
                    TruthCase{"yes", error("NameError: name 'yes' is not defined")},
                    TruthCase{"$n != 2", error("SyntaxError: invalid syntax")}));

}  // namespace
}  // namespace bench::evaluate
