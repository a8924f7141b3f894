#include "bench_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Runs whose results decide what else runs. Their commands write what ran into `witness`.
class DecisionsTest : public testing::Test {
 protected:
  std::vector<std::string> take_witness() const {
    std::vector<std::string> lines;
    if (here_.has("witness"))
      lines = split_names(here_.read("witness"), "\n");
    std::ranges::sort(lines);
    here_.write("witness", "");
    return lines;
  }

  Playground here_;
};

std::string swept(const std::string& values, int iterations = 1) {
  return "name: sweep\noutpath: runs\n"
         "parameterset: {name: p, parameter: {n: " +
         values +
         "}}\n"
         "step:\n  - {name: a, use: p, iterations: " +
         std::to_string(iterations) +
         ", do: 'echo a$n >> $jube_benchmark_home/witness; echo v=$n'}\n"
         "  - {name: b, depend: a, do: 'echo b$n >> $jube_benchmark_home/witness'}\n"
         "patternset: {name: f, pattern: {name: v, type: int, _: v=$jube_pat_int}}\n"
         "analyser: {name: an, use: f, analyse: {step: a, file: stdout}}\n"
         "result: {use: an, table: {name: t, style: csv, sort: n, column: [n, v, v_cnt]}}\n";
}

TEST_F(DecisionsTest, AnUpdateRunsTheNewValuesAndNothingElse) {
  here_.run("s.yaml", swept("[1, 2]"));
  take_witness();
  here_.write("s.yaml", swept("[1, 2, 3]"));
  const auto output = here_.bench({"continue", "runs", "--update", "s.yaml", "-r"});
  EXPECT_EQ(output.status.code, 0) << output.standard_error;
  EXPECT_THAT(take_witness(), ElementsAre("a3", "b3"));
  EXPECT_THAT(output.standard_output, HasSubstr("1,1,1\n2,2,1\n3,3,1\n"));
  EXPECT_THAT(output.standard_error, HasSubstr("note: run 0 has 1 workpackage more\n"));
  const auto again = here_.bench({"continue", "runs"});
  EXPECT_THAT(again.standard_error, IsEmpty()) << "the run has the new input file";
  EXPECT_THAT(take_witness(), IsEmpty());
  here_.write("s.yaml", swept("[1, 2]", 2));
  EXPECT_THAT(here_.bench({"continue", "runs", "-u", "s.yaml"}).standard_error,
              HasSubstr("note: 1 workpackage of the run is not in s.yaml any more"));
}

/// The children of a workpackage inherit it.
TEST_F(DecisionsTest, AnUpdateKeepsWhatAScriptGave) {
  const auto timed = [](const std::string& values) {
    return replace_all(swept(values), "{n: " + values + "}",
                       "[{name: n, _: " + values + "}, {name: now, mode: shell, _: date +%N}]");
  };
  here_.write("s.yaml", timed("'1,2'"));
  here_.bench({"run", "s.yaml"});
  take_witness();
  here_.write("s.yaml", timed("'1,2,3'"));
  const auto output = here_.bench({"continue", "runs", "-u", "s.yaml"});
  EXPECT_EQ(output.status.code, 0) << output.standard_error;
  EXPECT_THAT(take_witness(), ElementsAre("a3", "b3"));
  EXPECT_THAT(
      output.standard_error,
      HasSubstr("note: run 0 has 1 workpackage more\n"
                "note: scripts give other values today; the workpackages keep theirs: now"));
}

TEST_F(DecisionsTest, AnUpdateThatDoesNotFitChangesNothing) {
  here_.write("s.yaml", swept("[1, 2]"));
  here_.bench({"run", "s.yaml"});
  const std::string before = here_.bench({"status", "runs"}).standard_output;
  const auto refused = [&](const std::string& from, const std::string& to) {
    here_.write("other.yaml", replace_all(swept("[1, 2, 3]"), from, to));
    const auto output = here_.bench({"continue", "runs", "-u", "other.yaml"});
    EXPECT_EQ(output.status.code, 1);
    return output.standard_error;
  };
  EXPECT_THAT(refused("name: b", "name: c"),
              HasSubstr("run 0 has workpackages of step 'b', which other.yaml does not have"));
  EXPECT_THAT(refused("name: sweep", "name: swap"), HasSubstr("'sweep'"));
  EXPECT_THAT(refused("v=$jube_pat_int", "v=("), HasSubstr("other.yaml:"));
  EXPECT_EQ(here_.bench({"status", "runs"}).standard_output, before);
  EXPECT_THAT(here_.bench({"continue", "runs"}).standard_output, HasSubstr("  2 |"));
}

TEST_F(DecisionsTest, AnUpdateDoesNotRenumberIterationsOverSeveralParents) {
  const std::string text =
      "name: j\noutpath: runs\nstep:\n"
      "  - {name: a, iterations: 2, do: 'true'}\n"
      "  - {name: b, iterations: 2, do: 'true'}\n"
      "  - {name: c, depend: [a, b], do: 'true'}\n";
  here_.write("j.yaml", text);
  here_.bench({"run", "j.yaml"});
  here_.write("j.yaml", replace_all(text, "b, iterations: 2", "b, iterations: 3"));
  EXPECT_THAT(here_.bench({"continue", "runs", "-u", "j.yaml"}).standard_error,
              HasSubstr("j.yaml:5:5: error: step 'c' depends on several repeated steps, and 'b' "
                        "had 2 iterations and now has 3"));
}

/// The command of one iteration kills bench when it runs for the first time, and goes on.
std::string repeated(const std::string& killing) {
  return R"yaml(name: r
outpath: runs
parameterset: {name: p, parameter: {noise: [1, 10, 100]}}
step:
  name: s
  use: p
  iterations: {min: 3, max: 7, until: ci_halfwidth(rate) < 2%}
  do:
    - ')yaml" +
         killing + R"yaml('
    - echo "rate=$((1000 + $jube_wp_iteration * 7 % 5 * $noise))"
patternset: {name: f, pattern: {name: rate, type: float, _: rate=$jube_pat_fp}}
analyser: {name: an, use: f, analyse: {step: s, file: stdout}}
result: {use: an, table: {name: t, style: csv, column: [jube_wp_id, noise, rate_cnt, rate_avg]}}
)yaml";
}

TEST_F(DecisionsTest, ARepetitionIsTheSameAfterAKillAndWithManyAtATime) {
  here_.run("r.yaml", repeated("true"));
  const std::string expected = here_.bench({"result", "runs"}).standard_output;
  EXPECT_THAT(expected, HasSubstr("0,1,3,1002.0\n3,10,5,1020.0\n6,100,7,"));
  EXPECT_EQ(here_.bench({"run", "r.yaml", "-j", "5"}).status.code, 0);
  EXPECT_EQ(here_.bench({"result", "runs"}).standard_output, expected);
  for (const char* moment : {"12", "103", "1006"}) {
    here_.write("k.yaml", repeated(std::string("test $noise$jube_wp_iteration != ") + moment +
                                   " -o -e $jube_benchmark_home/killed" + moment +
                                   " || { touch $jube_benchmark_home/killed" + moment +
                                   "; kill -9 $PPID; }"));
    here_.bench({"run", "k.yaml"});
    EXPECT_EQ(here_.bench({"status", "runs"}).standard_output, "stopped\n");
    EXPECT_TRUE(here_.has(std::string("killed") + moment));
    const auto output = here_.bench({"continue", "runs"});
    EXPECT_EQ(output.status.code, 0) << output.standard_error;
    EXPECT_THAT(output.standard_error, HasSubstr("1 of 3 combinations do not reach"));
    EXPECT_EQ(here_.bench({"result", "runs"}).standard_output, expected);
  }
}

/// Of each `kind` the mean of a grows with n, and all scatter too much to be known.
TEST_F(DecisionsTest, ARaceRepeatsOnlyWhatMayWin) {
  std::string text = R"yaml(name: r
outpath: runs
parameterset: {name: p, parameter: {n: [1, 2, 100], kind: [x, y]}}
step:
  name: s
  use: p
  iterations: {min: 3, max: 7, until: ci_halfwidth(rate) < 1%, stop: dominated, for: max(rate), per: kind}
  do: echo "rate=$(($n * 100 + $jube_wp_iteration * 7 % 5 * 10))"
patternset: {name: f, pattern: {name: rate, type: float, _: rate=$jube_pat_fp}}
analyser: {name: an, use: f, analyse: {step: s, file: stdout}}
result: {use: an, table: {name: t, style: csv, column: [n, kind, rate_cnt]}}
)yaml";
  here_.write("r.yaml", text);
  const auto output = here_.bench({"run", "r.yaml", "-j", "3"});
  EXPECT_THAT(output.standard_error, HasSubstr("step s: 4 of 6 combinations cannot win:\n"
                                               "  workpackage 0: worse than workpackage 12 after "
                                               "3 iterations\n"));
  EXPECT_THAT(here_.bench({"result", "runs"}).standard_output,
              HasSubstr("1,x,3\n1,y,3\n2,x,3\n2,y,3\n100,x,3\n100,y,3\n"));
  here_.write("r.yaml", replace_all(text, "for: max", "for: min"));
  here_.bench({"run", "r.yaml"});
  EXPECT_THAT(here_.bench({"result", "runs"}).standard_output,
              HasSubstr("1,x,7\n1,y,7\n2,x,3\n2,y,3\n100,x,3\n100,y,3\n"));
}

/// A combination with such values neither wins nor keeps the others in the race.
TEST_F(DecisionsTest, ARaceIsNotHeldUpByWhatIsNotFinite) {
  for (const char* diverged : {"nan", "inf", "-inf"}) {
    here_.write("r.yaml", std::string(R"yaml(name: r
outpath: runs
parameterset: {name: p, parameter: {n: [0, 1, 100]}}
step:
  name: s
  use: p
  iterations: {min: 3, max: 5, until: ci_halfwidth(rate) < 1%, stop: dominated, for: max(rate)}
  do: test $n = 0 && echo rate=)yaml") +
                              diverged +
                              R"yaml( || echo "rate=$(($n * 100 + $jube_wp_iteration * 7 % 5 * 10))"
patternset: {name: f, pattern: {name: rate, type: float, _: "rate=(.+)"}}
analyser: {name: an, use: f, analyse: {step: s, file: stdout}}
result: {use: an, table: {name: t, style: csv, column: [n, rate_cnt]}}
)yaml");
    const auto output = here_.bench({"run", "r.yaml"});
    EXPECT_THAT(output.standard_error, HasSubstr("workpackage 0: rate is not finite"));
    EXPECT_THAT(output.standard_error, HasSubstr("workpackage 3: worse than workpackage 6 after"));
  }
}

TEST_F(DecisionsTest, ABudgetEndsARepetition) {
  std::string text = repeated("true");
  text = replace_all(text, "< 2%}", "< 2%, budget: 0.000000001nh}");
  const auto output = here_.run("r.yaml", text);
  EXPECT_THAT(output.standard_error,
              HasSubstr("2 of 3 combinations do not reach ci_halfwidth(rate) < 2%:\n"
                        "  workpackage 3: 4.9 % after 3 iterations, and the budget is used up"));
}

/// Iterations that `active` drops keep their numbers.
TEST_F(DecisionsTest, ARepetitionGivesNoNumberTwice) {
  std::string text = replace_all(repeated("true"), "  use: p\n",
                                 "  use: p\n  active: $jube_wp_iteration not in (1, 4)\n");
  text = replace_all(text, "jube_wp_id, noise, rate_cnt, rate_avg", "noise, jube_wp_iteration");
  here_.write("r.yaml", replace_all(text, "use: f,", "use: f, reduce: false,"));
  here_.bench({"run", "r.yaml"});
  EXPECT_THAT(here_.bench({"result", "runs", "--where", "noise == 100"}).standard_output,
              HasSubstr("100,0\n100,2\n100,3\n100,5\n100,6\n"));
}

/// n fits up to 2.
constexpr const char* pruned = R"(name: p
outpath: runs
parameterset: {name: p, parameter: {n: [1, 2, 4, 8, 16]}}
step:
  name: s
  use: p
  prune: {when: oom, larger: n}
  do:
    - echo $n >> $jube_benchmark_home/witness
    - test $n -le 2 || { echo result=oom; exit 3; }
)";

TEST_F(DecisionsTest, WhatAnOutOfMemoryResultImpliesIsSkippedAndRepeatedWithIt) {
  here_.write("p.yaml", pruned);
  for (const char* parallel : {"1", "5"}) {
    EXPECT_EQ(here_.bench({"run", "p.yaml", "-j", parallel}).status.code, 1);
    EXPECT_THAT(take_witness(), ElementsAre("1", "2", "4"));
  }
  EXPECT_THAT(here_.bench({"why", "runs", "4"}).standard_output, HasSubstr("OOM (implied by 4)"));
  EXPECT_THAT(here_.bench({"why", "runs", "2"}).standard_output, HasSubstr("out_of_memory"));
  EXPECT_EQ(here_.bench({"status", "runs"}).standard_output, "failed\n");
  EXPECT_THAT(here_.bench({"continue", "runs", "--failed"}).standard_error,
              HasSubstr("note: 3 workpackages of run 1 that failed or were skipped are repeated"));
  EXPECT_THAT(take_witness(), ElementsAre("4"));
}

TEST_F(DecisionsTest, AProgramThatSaysSoIsOutOfMemoryInAnyStep) {
  here_.run("p.yaml", R"(name: p
outpath: runs
parameterset: {name: p, parameter: {n: [0, 1, 2, 3]}}
step:
  name: s
  use: p
  do: |
    case $n in
      0) echo result=oom ;;
      1) echo "DefaultCPUAllocator: can't allocate memory: you tried 8 bytes" ;;
      2) echo "a step needs 315.5 GiB on each device, which has 23.4 GiB" ;;
      3) echo wrong ;;
    esac >&2
    exit 3
)",
            {}, 1);
  for (const char* id : {"0", "1", "2"})
    EXPECT_THAT(here_.bench({"why", "runs", id}).standard_output, HasSubstr("out_of_memory")) << id;
  EXPECT_THAT(here_.bench({"why", "runs", "3"}).standard_output,
              testing::Not(HasSubstr("out_of_memory")));
}

/// What ran out of memory fits once its cause is gone.
TEST_F(DecisionsTest, WhatWasSkippedRunsOnceItsCauseIsRepaired) {
  const std::string repaired =
      replace_all(pruned, "test $n -le 2 ||", "test $n -le 2 -o -e $jube_benchmark_home/fixed ||");
  const std::vector<std::vector<std::string>> ways{{"continue", "runs", "--failed"},
                                                   {"remove", "runs", "-w", "2", "--force"}};
  for (const auto& way : ways) {
    Playground here;
    here.write("p.yaml", repaired);
    here.bench({"run", "p.yaml"});
    here.write("fixed", "");
    const auto first = here.bench(way);
    const auto then = here.bench({"continue", "runs"});
    EXPECT_EQ(then.status.code, 0) << then.standard_error;
    EXPECT_EQ(here.read("witness"), "1\n2\n4\n4\n8\n16\n") << way.front();
    if (way.front() == "remove") {
      EXPECT_THAT(first.standard_error,
                  HasSubstr("note: what it implied is decided again: workpackages 3, 4\n"));
    }
  }
}

/// The same with jobs: what is decided does not depend on who runs them.
TEST_F(DecisionsTest, JobsAreDecidedAsOtherWorkpackages) {
  here_.write("bin/README", "");
  here_.write("queue/README", "");
  for (const char* program : {"qsub", "qselect", "qstat", "qdel"})
    std::filesystem::create_symlink(FAKE_BATCH_SYSTEM, here_.path() / "bin" / program);
  here_.write("j.yaml", R"(name: j
outpath: runs
parameterset:
  - {name: p, parameter: {n: [8, 1, 2, 4]}}
  - {name: q, parameter: {m: 1}}
step:
  - name: pruned
    use: p
    prune: {larger: n}
    batch: {time_limit: 5min}
    do: echo p$n >> $jube_benchmark_home/witness; test $n -le 2 || { echo result=oom; exit 3; }
  - name: searched
    use: q
    search: {parameter: m, for: max(rate), between: [1, 8]}
    batch: {time_limit: 5min}
    do: test $m -le 3 || { echo result=oom; exit 3; }; echo rate=$m
  - name: repeated
    iterations: {min: 2, max: 4, until: ci_halfwidth(rate) < 1%}
    batch: {time_limit: 5min}
    do: echo rate=$((1 + $jube_wp_iteration))
patternset: {name: f, pattern: {name: rate, type: float, _: rate=$jube_pat_fp}}
analyser:
  - {name: s, use: f, analyse: {step: searched, file: stdout}}
  - {name: r, use: f, analyse: {step: repeated, file: stdout}}
)");
  const std::string path = (here_.path() / "bin").string() + ":" + std::getenv("PATH");
  const auto output = here_.bench(
      {"run", "j.yaml", "--platform", "pbs", "--account", "a", "--partition", "b", "--wait"},
      {{"PATH", path},
       {"USER", "somebody"},
       {"FAKE_BATCH_KIND", "pbs"},
       {"FAKE_BATCH_DIR", (here_.path() / "queue").string()}});
  EXPECT_EQ(output.status.code, 1) << output.standard_error;
  EXPECT_THAT(take_witness(), ElementsAre("p1", "p2", "p4"));
  EXPECT_THAT(output.standard_error,
              HasSubstr("step searched: m=3 is the largest that fits, with rate=3\n"));
  EXPECT_THAT(output.standard_error, HasSubstr("after 4 iterations, the maximum\n"));
}

class SearchTest : public DecisionsTest {};

/// Of each precision another batch size is the largest that fits.
std::string searched(const std::string& killing, const std::string& rate) {
  return R"(name: q
outpath: runs
parameterset: {name: p, parameter: [{batch: 1}, {bytes: [2, 4]}, {name: need, mode: python, _: $batch * $bytes}]}
step:
  name: s
  use: p
  search: {parameter: batch, for: max(rate), between: [1, 64]}
  do:
    - echo "$bytes $batch" >> $jube_benchmark_home/witness
    - ')" +
         killing + R"('
    - test $need -le 44 || { echo result=oom; exit 3; }
    - echo "rate=)" +
         rate + R"("
patternset: {name: f, pattern: {name: rate, type: float, _: rate=$jube_pat_fp}}
analyser: {name: an, use: f, analyse: {step: s, file: stdout}}
result: {use: an, table: {name: t, style: csv, column: [jube_wp_id, bytes, batch, rate, jube_wp_status]}}
)";
}

TEST_F(SearchTest, FindsTheLargestThatFitsForEachCombination) {
  here_.write("q.yaml", searched("true", "$batch"));
  const auto output = here_.bench({"run", "q.yaml"});
  EXPECT_THAT(output.standard_error,
              HasSubstr("step s, bytes=2: batch=22 is the largest that fits, with rate=22\n"));
  EXPECT_THAT(output.standard_error,
              HasSubstr("step s, bytes=4: batch=11 is the largest that fits, with rate=11\n"));
  EXPECT_EQ(take_witness().size(), 6U + 4U + 5U + 3U);
}

TEST_F(SearchTest, SaysIfItsGoalIsBetterBefore) {
  here_.write("q.yaml", searched("true", "$(($batch < 8 ? $batch :1))"));
  EXPECT_THAT(
      here_.bench({"run", "q.yaml"}).standard_error,
      HasSubstr("batch=22 is the largest that fits, with rate=1; rate is better at 4: 4\n"));
}

TEST_F(SearchTest, NothingIsComparedWithAGoalThatIsNotANumber) {
  const std::string diverges_below_4 = "$(test $batch -lt 4 && echo nan || echo $batch)";
  here_.write("q.yaml",
              replace_all(searched("true", diverges_below_4), "rate=$jube_pat_fp", "rate=(.+)"));
  EXPECT_THAT(here_.bench({"run", "q.yaml"}).standard_error,
              HasSubstr("step s, bytes=2: batch=22 is the largest that fits, with rate=22\n"));
}

TEST_F(SearchTest, IsTheSameAfterAKillAndWithManyAtATime) {
  here_.write("q.yaml", searched("true", "$batch"));
  here_.bench({"run", "q.yaml"});
  const std::string expected = here_.bench({"result", "runs"}).standard_output;
  here_.bench({"run", "q.yaml", "-j", "4"});
  EXPECT_EQ(here_.bench({"result", "runs"}).standard_output, expected);
  for (const char* moment : {"24", "216", "412"}) {
    const std::string killed = std::string("$jube_benchmark_home/killed") + moment;
    here_.write("k.yaml", searched(std::string("test $bytes$batch != ") + moment + " -o -e " +
                                       killed + " || { touch " + killed + "; kill -9 $PPID; }",
                                   "$batch"));
    here_.bench({"run", "k.yaml"});
    EXPECT_TRUE(here_.has(std::string("killed") + moment));
    EXPECT_THAT(here_.bench({"continue", "runs"}).standard_error,
                HasSubstr("batch=22 is the largest that fits"));
    EXPECT_EQ(here_.bench({"result", "runs"}).standard_output, expected);
  }
}

TEST_F(SearchTest, GoesOnAfterWhatIsSkipped) {
  here_.write("q.yaml", replace_all(searched("true", "$batch"), "  search:",
                                    "  prune: {larger: batch}\n  iterations: 2\n  search:"));
  for (const char* parallel : {"1", "4"}) {
    const auto output = here_.bench({"run", "q.yaml", "-j", parallel});
    EXPECT_THAT(output.standard_error,
                HasSubstr("step s, bytes=4: batch=11 is the largest that fits, with rate=11\n"));
    EXPECT_THAT(output.standard_output, HasSubstr("| skipped |"));
  }
}

TEST_F(SearchTest, ForgetsOutOfMemoryResultsThatAreRepeated) {
  here_.write("q.yaml", replace_all(searched("true", "$batch"), "test $need -le 44",
                                    "test $need -le 44 || test -e $jube_benchmark_home/more"));
  here_.bench({"run", "q.yaml"});
  here_.write("more", "");
  EXPECT_THAT(
      here_.bench({"continue", "runs", "--failed"}).standard_error,
      HasSubstr("step s, bytes=2: batch=64 fits, the largest of the range, with rate=64\n"));
}

TEST_F(SearchTest, DoesNotMissAGoalThatStaysTheSame) {
  here_.write("q.yaml", searched("true", "7"));
  EXPECT_THAT(here_.bench({"run", "q.yaml"}).standard_error,
              HasSubstr("batch=22 is the largest that fits, with rate=7\n"));
}

TEST_F(SearchTest, EndsWithAnotherFailureAndResumesAfterIt) {
  here_.write("q.yaml",
              searched("test $bytes$batch != 28 -o -e $jube_benchmark_home/go", "$batch"));
  EXPECT_THAT(here_.bench({"run", "q.yaml"}).standard_error,
              HasSubstr("step s, bytes=2: the search ended early: workpackage 6 failed"));
  here_.write("go", "");
  EXPECT_THAT(here_.bench({"continue", "runs", "--failed"}).standard_error,
              HasSubstr("step s, bytes=2: batch=22 is the largest that fits, with rate=22\n"));
}

}  // namespace
}  // namespace bench::end_to_end
