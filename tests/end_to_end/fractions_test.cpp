// Parameters of type int whose value is computed and has a fraction.
#include "bench_program.hpp"

#include <cstddef>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

struct FractionCase {
  std::string name;
  std::string parameter;  ///< How `half` is written; `n` is 1, 2 or 3.
};
void PrintTo(const FractionCase& one, std::ostream* out) {
  *out << one.name;
}

class FractionTest : public testing::TestWithParam<FractionCase> {
 protected:
  void write(const std::string& step_of_half) const {
    here_.write("f.yaml",
                "name: f\noutpath: runs\nparameterset:\n"
                "  - {name: first, parameter: [{n: [1, 2, 3]}, {name: real, type: float, mode: "
                "python, _: $n / 2}]}\n"
                "  - name: second\n    parameter:\n      - {name: half, type: int, " +
                    GetParam().parameter + "}\nstep:\n  - {name: a, use: [first" + step_of_half +
                    "], do: echo $n}\n  - {name: b, depend: a, use: second, do: echo $half}\n");
  }
  static std::size_t warnings_in(const CommandOutput& output) {
    return split(output.standard_error, "warning: parameter 'half' has type int").size() - 1;
  }
  Playground here_;
};

TEST_P(FractionTest, IsWarnedOfOnceBeforeTheRunIsMade) {
  write(", second");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"check", "f.yaml"}, {"run", "f.yaml"}, {"run", "f.yaml", "-n"}}) {
    const auto output = here_.bench(command);
    EXPECT_EQ(output.status.code, 0) << output.standard_error;
    EXPECT_EQ(warnings_in(output), 1U) << output.standard_error;
    EXPECT_THAT(output.standard_error, ContainsRegex("f.yaml:7:[0-9]+: warning: parameter 'half' "
                                                     "has type int and its value is '0.5'\n"));
    EXPECT_THAT(output.standard_error, HasSubstr("hint: tables show 0; use type float"));
  }
  std::filesystem::remove_all(here_.path() / "runs");
  const auto strict = here_.bench({"run", "f.yaml", "--strict"});
  EXPECT_EQ(strict.status.code, 1);
  EXPECT_THAT(strict.standard_error, HasSubstr("error: parameter 'half' has type int"));
  EXPECT_FALSE(here_.has("runs/000000"));
}

TEST_P(FractionTest, IsWarnedOfOnceInLaterSteps) {
  write("");
  const auto output = here_.bench({"run", "f.yaml", "--strict"});
  EXPECT_EQ(output.status.code, 1) << "a warning of a run that is strict";
  EXPECT_EQ(warnings_in(output), 1U) << output.standard_error;
  EXPECT_EQ(here_.bench({"status", "runs"}).standard_output, "finished\n");
}

INSTANTIATE_TEST_SUITE_P(
    Modes, FractionTest,
    testing::Values(FractionCase{"Python", "mode: python, _: $n / 2"},
                    FractionCase{"Shell", "mode: shell, _: \"echo $n | awk '{print $1 / 2}'\""},
                    FractionCase{"AnotherParameter", "_: $real"},
                    FractionCase{"LateValue", "mode: python, _: ($jube_wp_id + 1) / 2"}),
    [](const auto& one) { return one.param.name; });

TEST(WholeTest, NumbersAreNotWarnedOf) {
  const Playground here;
  here.write("f.yaml",
             "name: f\noutpath: runs\nparameterset: {name: p, parameter: [{n: [1, 2]}, {name: "
             "one, type: int, mode: python, _: $n / 1}, {name: big, type: int, mode: python, _: "
             "1e20 * $n}]}\nstep: {name: s, use: p, do: echo $one $big}\n");
  const auto output = here.bench({"run", "f.yaml", "--strict"});
  EXPECT_EQ(output.status.code, 0) << output.standard_error;
}

}  // namespace
}  // namespace bench::end_to_end
