#include "space/fixture.hpp"
#include "support/case_name.hpp"
#include "support/environment_variable.hpp"
#include "support/error_of.hpp"

#include <cstddef>
#include <optional>
#include <string>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/evaluate/evaluator.hpp>
#include <bench/space/combination.hpp>
#include <bench/space/expand.hpp>

namespace bench::space {
namespace {

using support::case_name;
using support::error_of;

struct ErrorCase {
  std::string name;
  std::string parameters;
  std::string expected;
};

class ExpandErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(ExpandErrorTest, HasMessagePlaceAndHint) {
  const auto benchmark = with_parameters(GetParam().parameters);
  EXPECT_EQ(error_of([&] { combinations_of(benchmark); }), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Types, ExpandErrorTest,
    testing::Values(ErrorCase{"Int", "    - {name: a, type: int, _: '1,x'}\n",
                              "in.yaml:4:31: error: value 'x' of parameter 'a' is not an integer"},
                    ErrorCase{"EmptyInt", "    - {name: a, type: int, _: ''}\n",
                              "in.yaml:4:31: error: value '' of parameter 'a' is not an integer"},
                    ErrorCase{"Float", "    - {name: a, type: float, separator: ';', _: '1,5'}\n",
                              "in.yaml:4:49: error: value '1,5' of parameter 'a' is not a number"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Circles, ExpandErrorTest,
    testing::Values(ErrorCase{"OfTwo", "    {a: <$b>, b: ($a), c: 1}\n",
                              "in.yaml:4:9: error: circular dependency of parameters: a, b\n"
                              "hint: give one of them a value that does not depend on the others"},
                    ErrorCase{"Itself", "    {c: '1,2', a: x$a}\n",
                              "in.yaml:4:19: error: circular dependency of parameters: a\n"
                              "hint: give one of them a value that does not depend on the others"},
                    ErrorCase{"OfScripts",
                              "    - {name: a, mode: python, _: $b + 1}\n    - {name: b, _: $a}\n",
                              "in.yaml:4:34: error: circular dependency of parameters: a, b\n"
                              "hint: give one of them a value that does not depend on the others"}),
    case_name);

TEST(ExpandError, ValuesThatDoubleEachOtherAreRefusedSoon) {
  std::string parameters = "    p0: 0123456789abcdef\n";
  for (int k = 1; k <= 40; ++k)
    parameters += fmt::format("    p{}: ${{p{}}}${{p{}}}\n", k, k - 1, k - 1);
  EXPECT_THAT(error_of([&] { combinations_of(with_parameters(parameters)); }),
              testing::HasSubstr("error: the value of parameter 'p21' is longer than 16 MiB\n"
                                 "hint: put long texts into a file"));
}

INSTANTIATE_TEST_SUITE_P(
    Scripts, ExpandErrorTest,
    testing::Values(
        ErrorCase{"Python", "    - {name: n, _: 0}\n    - {name: a, mode: python, _: 1 / $n}\n",
                  "in.yaml:5:34: error: parameter 'a': ZeroDivisionError: division by zero\n"
                  "hint: evaluated expression: 1 / 0"},
        ErrorCase{"ZeroByteOfAShell", "    - {name: a, mode: shell, _: 'printf \"a\\0\"'}\n",
                  "in.yaml:4:33: error: parameter 'a': its value has a zero byte, at which "
                  "programs would end it; "
                  "remove it, in a shell with `| tr -d '\\0'`\n"
                  "hint: evaluated expression: printf \"a\\0\""},
        ErrorCase{"ZeroByteOfPython", "    - {name: a, mode: python, _: chr(0)}\n",
                  "in.yaml:4:34: error: parameter 'a': its value has a zero byte, at which "
                  "programs would end it; "
                  "remove it, in a shell with `| tr -d '\\0'`\n"
                  "hint: evaluated expression: chr(0)"},
        ErrorCase{"Shell", "    - {name: a, mode: shell, _: 'echo no >&2; exit 3'}\n",
                  "in.yaml:4:33: error: parameter 'a': exit code 3: no\n"
                  "hint: evaluated expression: echo no >&2; exit 3"}),
    case_name);

TEST(ExpandError, NamesAVariableThatIsNotSet) {
  const support::EnvironmentVariable unset("BENCH_TEST_UNSET", std::nullopt);
  const auto benchmark = with_parameters("    - {name: a, mode: env, _: BENCH_TEST_UNSET}\n");
  EXPECT_EQ(error_of([&] { combinations_of(benchmark); }),
            "in.yaml:4:31: error: parameter 'a': the environment variable 'BENCH_TEST_UNSET' is "
            "not set\nhint: evaluated expression: BENCH_TEST_UNSET");
}

TEST(ExpandError, ShowsBothDefinitionsOfOneName) {
  const auto benchmark = benchmark_of(
      "parameterset:\n  - {name: p, parameter: {a: 1}}\n  - {name: q, parameter: {a: 2}}\n"
      "step: {name: s, use: [p, q]}\n");
  EXPECT_EQ(error_of([&] { combinations_of(benchmark); }),
            "in.yaml:3:30: error: step 's' uses two sets that define 'a' differently\n"
            "hint: the other definition is in line 2");
}

TEST(ExpandError, RefusesMoreCombinationsThanAllowed) {
  const auto benchmark = with_parameters("    {a: [1, 2, 3], b: [1, 2, 3], c: '$a,$b'}\n");
  evaluate::Evaluator evaluator;
  const Values none;
  const auto expand_with = [&](std::size_t limit) {
    return expand(benchmark, benchmark.steps[0], {Origin{}}, lookup_in(none), evaluator, {limit})
        .combinations.size();
  };
  EXPECT_EQ(expand_with(18), 18U);
  EXPECT_EQ(error_of([&] { expand_with(17); }),
            "in.yaml:5:7: error: step 's' has more than 17 combinations\n"
            "hint: split the sweep, or raise the limit with --max-workpackages");
}

// 4^40 combinations: they must be counted without an overflow, and never be made.
TEST(ExpandError, RefusesAnAstronomicSpaceAtOnce) {
  std::string parameters;
  for (int k = 0; k < 40; ++k)
    parameters += "    - {name: p" + std::to_string(k) + ", _: '1,2,3,4'}\n";
  const auto benchmark = with_parameters(parameters);
  EXPECT_EQ(error_of([&] { combinations_of(benchmark); }),
            "in.yaml:44:7: error: step 's' has more than 1000000 combinations\n"
            "hint: split the sweep, or raise the limit with --max-workpackages");
}

TEST(ExpandError, SaysWhatIsWrongWithWhereAndActive) {
  auto benchmark = with_parameters("    {a: [1, 2]}\n");
  benchmark.steps[0].where = "$a <";
  const std::string said = error_of([&] { combinations_of(benchmark); });
  EXPECT_TRUE(
      said.starts_with("in.yaml:5:7: error: step 's': invalid expression in where: SyntaxError"))
      << said;
  EXPECT_TRUE(said.ends_with("\nhint: evaluated expression: 1 <")) << said;
  benchmark.steps[0].where = "";
  benchmark.steps[0].active = "yes";
  EXPECT_EQ(
      error_of([&] { combinations_of(benchmark); }),
      "in.yaml:5:7: error: step 's': invalid expression in active: NameError: name 'yes' is not "
      "defined\nhint: evaluated expression: yes");
}

}  // namespace
}  // namespace bench::space
