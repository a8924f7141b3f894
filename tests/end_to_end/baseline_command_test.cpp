#include "bench_program.hpp"
#include "support/patience.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// Times of `$FACTOR`, up to noise of 0.4 % in a run and of `$NIGHT` per mille between runs.
constexpr const char* input = R"(name: nightly
outpath: runs
parameterset: {name: p, parameter: {size: [1, 2]}}
step:
  name: s
  use: p
  iterations: 8
  do: test "$BROKEN" != $size && echo time=$(($size * ${FACTOR:-100} * (1000 + ${NIGHT:-0} + 50 * (${SLOW:-0} == $size) + 4 * ((5 * $jube_wp_iteration) % 3))))
patternset: {name: found, pattern: {name: time, type: float, unit: s, _: time=$jube_pat_fp}}
analyser: {name: output, use: found, analyse: {step: s, file: stdout}}
result: {use: output, table: {name: t, style: pretty, column: [size, time_avg]}}
)";

class BaselineCommandTest : public testing::Test {
 protected:
  BaselineCommandTest() { here_.write("nightly.yaml", input); }

  void run(const Environment& extra = {}) const { here_.bench({"run", "nightly.yaml"}, extra); }
  void run_five_good_ones() const {
    for (const char* night : {"0", "1", "2", "1", "0"})
      run({{"NIGHT", night}});
    baseline({"accept", "runs", "-i", "all"});
  }
  std::string baseline(std::vector<std::string> arguments, int code = 0) const {
    return here_.text_of("baseline", std::move(arguments), code);
  }
  Playground here_;
};

TEST_F(BaselineCommandTest, ChecksARunAgainstTheAcceptedOnes) {
  run_five_good_ones();
  run({{"NIGHT", "1"}});
  EXPECT_THAT(
      baseline({"check", "runs"}),
      AllOf(HasSubstr("a: 5 accepted runs, runs/000000 to runs/000004\nb: runs/000005 (nightly, "),
            HasSubstr("| 40, 8 |"),
            HasSubstr("\npassed: none of 2 rows is worse by 1 % or more\n")));
  run({{"FACTOR", "104"}, {"NIGHT", "1"}});
  EXPECT_THAT(baseline({"check", "runs"}, 1), HasSubstr("\nfailed: 2 rows slower or worse\n"));
  EXPECT_THAT(baseline({"check", "runs", "--style", "csv"}, 1), HasSubstr(",slower,"));
  EXPECT_THAT(baseline({"check", "runs", "--margin", "6"}), HasSubstr("worse by 6 % or more\n"));
  run({{"BROKEN", "2"}, {"NIGHT", "1"}});
  EXPECT_THAT(baseline({"check", "runs"}, 1), HasSubstr("\nfailed: 1 point lost by failures\n"));
}

/// Workpackages beside one another slow each other down, which says nothing of the program.
TEST_F(BaselineCommandTest, DoesNotCheckARunOfAnotherFingerprintUnlessAsked) {
  run_five_good_ones();
  here_.bench({"run", "nightly.yaml", "-j", "4"}, {{"FACTOR", "300"}});
  EXPECT_THAT(baseline({"check", "runs"}, 3),
              AllOf(HasSubstr("undecided: no accepted run in runs has the fingerprint of run 5\n"),
                    ContainsRegex("[|] parallel [|] +1 [|] +4 [|]\n"),
                    HasSubstr("`--across parallel` compares them anyway")));
  EXPECT_THAT(baseline({"check", "runs", "--across", "parallel"}, 1),
              AllOf(HasSubstr("\nworkpackages at a time: 1 in a, 4 in b\n"),
                    HasSubstr("\nfailed: 2 rows slower or worse\n")));
  here_.write("nightly.yaml", replace_all(input, "iterations: 8", "iterations: 9"));
  run({{"NIGHT", "1"}});
  EXPECT_THAT(baseline({"check", "runs"}, 3),
              AllOf(HasSubstr("undecided: no accepted run in runs has the fingerprint of run 6\n"),
                    ContainsRegex("[|] input [|] +[0-9a-f]{12} [|] [0-9a-f]{12} [|]"),
                    HasSubstr("`--across input` compares them anyway")));
  EXPECT_THAT(baseline({"check", "runs", "--across", "input"}), HasSubstr("| 40, 9 |"));
  EXPECT_THAT(
      baseline({"check", "runs", "--across", "colour"}, 1),
      HasSubstr("error: --across: 'colour' is neither a parameter nor a fact of the run\n"));
}

TEST_F(BaselineCommandTest, RepeatsWhatIsWorseBeforeItCounts) {
  run_five_good_ones();
  run({{"FACTOR", "104"}, {"NIGHT", "1"}});
  const auto check = [&](const char* factor, int code) {
    const auto said = here_.bench({"baseline", "check", "runs", "--confirm", "1"},
                                  {{"FACTOR", factor}, {"NIGHT", "1"}});
    EXPECT_EQ(said.status.code, code) << said.standard_error;
    return said.standard_output + said.standard_error;
  };
  EXPECT_THAT(check("104", 1),
              AllOf(HasSubstr("2 points of run 5 are worse; repeating them in 1 run\n"),
                    HasSubstr("| 40, 16 |"), HasSubstr("\nfailed: 2 rows slower or worse\n")));
  // Once they are there, they count without being repeated, whichever of them is named.
  EXPECT_THAT(check("100", 1),
              AllOf(HasSubstr("b: runs/000005 and 1 repetition of its points (nightly, "),
                    Not(HasSubstr("repeating"))));
  // Only what is worse is repeated.
  run({{"NIGHT", "1"}, {"SLOW", "2"}});
  here_.bench({"baseline", "check", "runs", "--confirm", "1"}, {{"NIGHT", "1"}, {"SLOW", "2"}});
  EXPECT_THAT(here_.text_of("info", {"runs", "-i", "8", "-s", "s"}, 0),
              AllOf(HasSubstr("not selected to be repeated"), HasSubstr("done")));
}

/// The verdict does not depend on how the run is written, and a summary has that of the last check.
TEST_F(BaselineCommandTest, DoesNotRaiseAnAlarmThatIsNotConfirmed) {
  run_five_good_ones();
  run({{"FACTOR", "104"}, {"NIGHT", "1"}});
  const auto check = [&](const char* inside, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"baseline", "check"});
    ProcessSpec spec = here_.spec(std::move(arguments), {{"NIGHT", "1"}});
    spec.directory /= inside;
    return run_command(std::move(spec), support::far_too_long_s).status.code;
  };
  const auto summary = [&](const char* id) {
    return here_.text_of("export", {"runs", "--format", "summary", "-i", id}, 0);
  };
  EXPECT_EQ(check("", {"runs/000005/"}), 1);
  EXPECT_EQ(check("runs/000005", {}), 1);
  EXPECT_THAT(baseline({"list", "runs/000000/"}), HasSubstr("|   4 |"));
  EXPECT_THAT(summary("5"), HasSubstr("\nfailed: 2 rows slower or worse\n"));
  EXPECT_EQ(check("runs", {"000005", "--confirm", "2"}), 0);
  EXPECT_THAT(summary("5"), HasSubstr("\npassed: none of 2 rows is worse by 1 % or more\n"));
  EXPECT_THAT(summary("6"), Not(HasSubstr("### Baseline")));
  // The last one is not the one that is meant.
  EXPECT_THAT(here_.text_of("export", {"runs", "--format", "summary"}, 0),
              AllOf(HasSubstr(": run 5 done"),
                    HasSubstr("note: run 7 only repeats points of run 5, which is exported")));
}

TEST_F(BaselineCommandTest, RepeatsAPointThatAnEarlierCheckOfAnotherMetricDidNotRepeat) {
  // At size 1 the time can be slow, at size 2 the wait.
  std::string text = replace_all(
      input, "do: ", "do: echo wait=$((1000 + 50 * (${SLOW:-0} * $size == 4) + ${NIGHT:-0})); ");
  text = replace_all(text, "${SLOW:-0} == $size", "${SLOW:-0} == 2 * $size");
  text = replace_all(text, "pattern: {",
                     "pattern: [{name: wait, type: float, unit: s, _: wait=$jube_pat_fp}, {");
  here_.write("nightly.yaml", replace_all(text, "time=$jube_pat_fp}", "time=$jube_pat_fp}]"));
  run_five_good_ones();
  run({{"NIGHT", "1"}, {"SLOW", "2"}});
  const auto check = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"baseline", "check", "runs", "--confirm", "1"});
    return here_.bench(more, {{"NIGHT", "1"}}).standard_error;
  };
  const std::string note = "1 point of run 5 is worse; repeating it in 1 run\n";
  EXPECT_THAT(check({"--metric", "time"}), HasSubstr(note));
  EXPECT_THAT(check({}), HasSubstr(note));
  EXPECT_THAT(check({}), Not(HasSubstr("repeating")));
}

TEST_F(BaselineCommandTest, FailsARunWithValuesThatAreNotFiniteAndCannotTellOfOneWithoutSome) {
  const std::string text = replace_all(input, "&& echo",
                                       "&& if test $size$jube_wp_iteration = 23; then echo "
                                       "$INSTEAD; exit; fi; echo");
  here_.write("nightly.yaml", replace_all(text, "time=$jube_pat_fp", "\"time=(.+)\""));
  for (const char* night : {"0", "1", "2", "1", "0"})
    run({{"NIGHT", night}, {"INSTEAD", "time=200000"}});
  baseline({"accept", "runs", "-i", "all"});
  run({{"INSTEAD", "time=inf"}});
  EXPECT_THAT(baseline({"check", "runs"}, 1),
              AllOf(ContainsRegex("size=2 . time.s. . 40, 8 .    n/a .* not finite .\n"),
                    HasSubstr("1 row: some values are nan or infinite"),
                    HasSubstr("\nfailed: 1 row no longer finite\n")));
  run({{"INSTEAD", ""}});
  EXPECT_THAT(baseline({"check", "runs"}, 3),
              AllOf(HasSubstr("| 40, 7 |"),
                    HasSubstr("1 row: some workpackages that are done have no value"),
                    HasSubstr("\nundecided: 1 row without some values\n")));
}

TEST_F(BaselineCommandTest, CannotTellOfWhatIsTooNoisy) {
  run({{"NIGHT", "0"}});
  run({{"NIGHT", "30"}});
  baseline({"accept", "runs", "-i", "all"});
  run({{"NIGHT", "15"}});
  EXPECT_THAT(baseline({"check", "runs"}, 3),
              HasSubstr("\nundecided: 2 rows may be worse by 1 % or more\n"));
}

TEST_F(BaselineCommandTest, WithoutAnAcceptedRunSaysHowToAcceptOne) {
  run();
  EXPECT_THAT(baseline({"check", "runs"}, 3),
              AllOf(HasSubstr("undecided: no other run in runs is accepted\n"),
                    HasSubstr("`bench baseline accept runs -i 0`")));
}

TEST_F(BaselineCommandTest, AParameterMayDifferFromRunToRun) {
  std::string versioned = input;
  versioned.replace(versioned.find("{size: [1, 2]}"), 14,
                    "[{size: [1, 2]}, {name: version, mode: env, _: VERSION}]");
  here_.write("nightly.yaml", versioned);
  for (const char* version : {"10", "11", "12", "13", "14"})
    run({{"NIGHT", version[1] % 2 == 0 ? "0" : "1"}, {"VERSION", version}});
  baseline({"accept", "runs", "-i", "0", "1", "2", "3"});
  EXPECT_THAT(baseline({"check", "runs"}, 3), HasSubstr("undecided: no row counts"));
  EXPECT_THAT(baseline({"check", "runs", "--across", "version"}),
              AllOf(HasSubstr("| size=2 |"), HasSubstr("passed: none of 2 rows")));
}

TEST_F(BaselineCommandTest, AcceptedRunsAreListedAndRevoked) {
  run();
  run();
  EXPECT_THAT(baseline({"accept", "runs", "-i", "all"}),
              ContainsRegex("run 0: accepted, fingerprint [0-9a-f]{8}\nrun 1: accepted"));
  EXPECT_THAT(here_.bench({"info", "runs", "-i", "1"}).standard_output, HasSubstr(" accepted: 2"));
  baseline({"revoke", "runs", "-i", "1"});
  EXPECT_THAT(baseline({"list", "runs"}),
              AllOf(ContainsRegex("[|]   0 [|]   nightly [|]"), Not(HasSubstr("|   1 |"))));
  baseline({"revoke", "runs/000000"});
  EXPECT_EQ(baseline({"list", "runs/000000"}), "no run in runs is accepted\n");
}

TEST_F(BaselineCommandTest, RefusesARunThatMeasuredNothing) {
  here_.write("failing.yaml", "outpath: runs\nstep: {name: s, do: 'false'}\n");
  here_.bench({"run", "failing.yaml"});
  EXPECT_THAT(baseline({"accept", "runs"}, 1),
              HasSubstr("error: cannot accept run 0: no workpackage is done\n"));
}

TEST_F(BaselineCommandTest, ARunThatWaitsIsNeitherAcceptedNorChecked) {
  here_.write("waiting.yaml",
              "outpath: runs\nstep: {name: s, do: {done_file: ready, _: 'true'}}\n");
  here_.bench({"run", "waiting.yaml"});
  EXPECT_THAT(baseline({"accept", "runs"}, 1), HasSubstr("run 0: it has not finished\n"));
  EXPECT_THAT(baseline({"check", "runs"}, 3), HasSubstr("undecided: run 0 has not finished\n"));
}

TEST_F(BaselineCommandTest, MistakesOfItsOwnCommandsHaveHints) {
  run();
  EXPECT_THAT(baseline({"chek", "runs"}, 2), HasSubstr("did you mean 'check'?"));
  EXPECT_THAT(baseline({"check", "runs", "--margn", "3"}, 2),
              HasSubstr("did you mean '--margin'?"));
  EXPECT_THAT(baseline({"check", "-i", "0", "runs"}, 2), HasSubstr("consumed 'runs' as a value"));
}

TEST_F(BaselineCommandTest, AcceptWarnsOfValuesThatAreNotFinite) {
  here_.write("d.yaml",
              "name: d\noutpath: runs\nparameterset: {name: p, parameter: {n: [1, 2]}}\n"
              "step: {name: s, use: p, do: \"test $n = 1 && echo loss=4 || echo loss=nan\"}\n"
              "patternset: {name: f, pattern: {name: loss, type: float, _: loss=(.+)}}\n"
              "analyser: {name: a, use: f, analyse: {step: s, file: stdout}}\n");
  here_.bench({"run", "d.yaml"});
  EXPECT_THAT(baseline({"accept", "runs"}),
              HasSubstr("warning: run 0 has 1 value of loss that is nan or infinite; checks of its "
                        "point stay undecided\n"));
}

}  // namespace
}  // namespace bench::end_to_end
