#include "bench_program.hpp"
#include "support/patience.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/process.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A loss with its least value at 37; where `x` is 13 the step fails.
class TellTest : public testing::Test {
 protected:
  TellTest() {
    here_.write("tune.yaml", R"(name: tune
outpath: runs
parameterset: {name: p, parameter: [{x: 1, kind: [a, b]}, {name: double, mode: python, _: 2 * $x}]}
step:
  - name: s
    use: p
    where: $x < 100
    do: test $x != 13 && echo loss=$(( ($x - 37) * ($x - 37) ))
  - {name: t, depend: s, do: echo done}
patternset: {name: o, pattern: {name: loss, type: int, _: loss=$jube_pat_int}}
analyser: {name: a, use: o, analyse: {step: s, file: stdout}}
)");
    here_.bench({"run", "tune.yaml"});
  }
  std::string tell(const std::string& point) const {
    return here_.text_of("tell", {"runs", point}, 0);
  }
  std::string refused(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"tell", "runs"});
    const auto said = here_.bench(arguments);
    EXPECT_EQ(said.status.code, 1);
    return said.standard_error;
  }
  Playground here_;
};

TEST_F(TellTest, TakesAnIntegerAsAProgramWritesItThatComputesWithFloatingPointNumbers) {
  EXPECT_EQ(tell(R"({"x": 1.0})"), "{\"run\":0,\"workpackages\":[0,1],\"new\":false}\n");
  EXPECT_EQ(tell(R"({"x": 3e1, "kind": "a"})"), "{\"run\":0,\"workpackages\":[4],\"new\":true}\n");
  tell(R"({"x": 13, "kind": "a"})");
  EXPECT_EQ(here_.text_of("ask", {"runs", "-w", "4", "5"}, 0), "") << "neither has ended";
  here_.bench({"continue", "runs"});
  EXPECT_THAT(here_.text_of("ask", {"runs", "-w", "4"}, 0), HasSubstr("\"x\":30,"));
  EXPECT_THAT(here_.text_of("ask", {"runs", "-w", "5"}, 0),
              AllOf(HasSubstr("\"state\":\"failed\""), HasSubstr("exit code 1")));
}

TEST_F(TellTest, AddsThePointOnceForEachCombinationOfTheOthers) {
  EXPECT_EQ(tell(R"({"x": 30})"), "{\"run\":0,\"workpackages\":[4,5],\"new\":true}\n");
  EXPECT_EQ(tell(R"({"x": 30})"), "{\"run\":0,\"workpackages\":[4,5],\"new\":false}\n");
  EXPECT_EQ(tell(R"({"x": 44, "kind": "c"})"), "{\"run\":0,\"workpackages\":[6],\"new\":true}\n");
  here_.bench({"continue", "runs"});
  EXPECT_THAT(here_.text_of("ask", {"runs", "-w", "6"}, 0),
              AllOf(HasSubstr("\"x\":44,\"kind\":\"c\",\"double\":88,\"loss\":49,"),
                    HasSubstr("\"state\":\"done\"")));
  EXPECT_THAT(here_.text_of("info", {"runs", "-i", "last", "-s", "t"}, 0),
              HasSubstr("x=44 kind=c"));
}

TEST_F(TellTest, RefusesWhatIsNoPointAndNamesItsLineOfStandardInput) {
  EXPECT_THAT(refused({"x=3"}), HasSubstr("a point must be a JSON object, not 'x=3'"));
  EXPECT_THAT(refused({"{}"}), HasSubstr("a point must be a JSON object"));
  EXPECT_THAT(refused({R"({"x": [1, 2]})"}), HasSubstr("parameter 'x' must be a text, a number"));
  EXPECT_THAT(refused({R"({"kid": 1})"}),
              AllOf(HasSubstr("no step has a parameter 'kid'"), HasSubstr("did you mean 'kind'?")));
  EXPECT_THAT(refused({R"({"x": 3})", "-s", "u"}), HasSubstr("the benchmark has no step 'u'"));
  EXPECT_THAT(refused({R"({"x": 100})"}), HasSubstr("`where` or `active` of step 's' drops"));
  EXPECT_THAT(here_.text_of("ask", {"runs", "-w", "99"}, 1),
              HasSubstr("error: there is no workpackage 99"));
  const CommandOutput said = run_command(here_.spec({"tell", "runs", "-"}), support::far_too_long_s,
                                         "{\"x\": 30}\n\n{\"y\": 2}\n");
  EXPECT_EQ(said.status.code, 1);
  EXPECT_EQ(said.standard_output, "{\"run\":0,\"workpackages\":[4,5],\"new\":true}\n");
  EXPECT_THAT(said.standard_error,
              HasSubstr("error: line 3 of standard input: no step has a parameter 'y'\nhint: "));
}

}  // namespace
}  // namespace bench::end_to_end
