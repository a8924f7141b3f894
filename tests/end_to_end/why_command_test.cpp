#include "bench_program.hpp"
#include "support/eventually.hpp"
#include "support/replace_matches.hpp"
#include "transcript.hpp"

#include <csignal>
#include <filesystem>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/process.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// `n * b` is 16 twice, and fails there; 64 is dropped.
constexpr const char* sweep_file = R"(name: sweep
outpath: runs
parameterset:
  - {name: p, parameter: [{n: [1, 2, 4]}, {b: [8, 16]}, {name: size, mode: python, _: $n * $b}]}
step:
  - name: train
    use: p
    where: "$n * $b <= 32"
    do:
      - echo begin
      - 'echo "rate=$size"; echo one >&2; echo two >&2; test $size != 16'
  - {name: check, depend: train, do: cat train/stdout}
)";

class WhyTest : public testing::Test {
 protected:
  void make_run() const {
    here_.write("sweep.yaml", sweep_file);
    here_.bench({"run", "sweep.yaml"});
  }
  /// Without what differs between runs and machines.
  std::string why(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "why");
    const auto output = here_.bench(std::move(arguments));
    EXPECT_EQ(output.status.code, 0) << output.standard_error;
    return support::replace_matches(normalised(output.standard_output, here_.path()),
                                    "after [0-9.]+ s, on \\S+", "after N s, on HOST");
  }
  Playground here_;
};

TEST_F(WhyTest, AFailureIsShownWithItsCommandItsOutputAndWhatToDoAndASuccessWithout) {
  make_run();
  EXPECT_EQ(why({"1", "runs", "--lines", "1"}),
            "workpackage 1 (train): failed\n"
            "  parameters:  n=1 b=16 size=16\n"
            "  directory:   runs/000000/000001_train\n"
            "  ended:       at YYYY-MM-DD HH:MM:SS +ZZZZ, after N s, on HOST\n"
            "  reason:      command 2 of 2: exit code 1: two\n"
            "  command:     echo \"rate=16\"; echo one >&2; echo two >&2; test 16 != 16\n"
            "  so:          no workpackage of check is created for it\n"
            "  next:        bench remove runs --id 0 --workpackage 1\n"
            "               bench continue runs --id 0\n"
            "\n==> end of runs/000000/000001_train/work/stderr <==\ntwo\n"
            "\n==> end of runs/000000/000001_train/work/stdout <==\nrate=16\n");
  EXPECT_EQ(why({"runs/000000", "5"}),
            "workpackage 5 (check): done\n"
            "  parameters:  n=1 b=8 size=8\n"
            "  directory:   runs/000000/000005_check\n"
            "  parents:     workpackage 0 (train), done\n"
            "  ended:       at YYYY-MM-DD HH:MM:SS +ZZZZ, after N s, on HOST\n"
            "  command:     cat train/stdout\n"
            "  again:       finished; to repeat it, delete it first with `bench remove`\n");
}

TEST_F(WhyTest, WhatHasChangedSinceIsSaid) {
  make_run();
  EXPECT_THAT(why({"0", "runs"}), Not(AnyOf(HasSubstr("deleted:"), HasSubstr("input:"))));
  std::filesystem::remove_all(here_.path() / "runs/000000/000000_train");
  here_.write("sweep.yaml", std::string(sweep_file) + "# changed\n");
  EXPECT_THAT(
      why({"0", "runs"}),
      AllOf(HasSubstr("deleted:     its directory does not exist any more;"),
            HasSubstr("input:       sweep.yaml has changed since; `bench run` starts a new run")));
}

TEST_F(WhyTest, TheOnlyFailureOfARunIsRepeatedInOneCommand) {
  here_.write("one.yaml", "outpath: runs\nstep: {name: a, do: exit 3}\n");
  here_.bench({"run", "one.yaml"});
  EXPECT_THAT(why({"0", "runs"}), HasSubstr("  next:       bench continue runs --id 0 --failed\n"));
}

TEST_F(WhyTest, ATimeoutComesWithAdvice) {
  here_.write("slow.yaml",
              "name: slow\noutpath: slow\nstep: {name: s, timeout: 0.2s, do: sleep 100}\n");
  here_.bench({"run", "slow.yaml"});
  EXPECT_THAT(why({"slow", "0"}), AllOf(HasSubstr("outcome:    timeout\n"),
                                        HasSubstr("advice:     increase `timeout`")));
}

/// What is asked of one run, and the answer.
struct PointCase {
  std::vector<std::string> arguments;
  std::string expected;
};

TEST_F(WhyTest, APointWithoutAWorkpackageIsExplained) {
  make_run();
  for (const PointCase& one :
       {PointCase{{"runs", "n=4", "b=16", "-s", "train"},
                  "step train: no workpackage has n=4 b=16\n"
                  "  n:        is 1, 2 with b=16\n"
                  "  b:        is 8 with n=4\n"
                  "  `where`:  keeps only $n * $b <= 32, here: 4 * 16 <= 32\n"},
        PointCase{
            {"runs", "n=3"},
            "step train: no workpackage has n=3\n"
            "  n:     has no value 3; it has 1, 2, 4\n"
            "  tags:  none is active; `bench check HERE/sweep.yaml` shows what each tag selects\n"
            "\nstep check: no workpackage has n=3\n"
            "  waits for:  a workpackage of step train, which does not exist\n"},
        PointCase{{"runs", "n=1", "b=16", "-s", "check"},
                  "step check: no workpackage has n=1 b=16\n"
                  "  needs:  workpackage 1 (train), failed: command 2 of 2: exit code 1: two\n"},
        PointCase{{"runs", "n=4", "b=16", "size=8", "-s", "train"},
                  "step train: no workpackage has n=4 b=16 size=8\n"
                  "  values:   each value exists, but no workpackage has all of them\n"
                  "  `where`:  keeps only $n * $b <= 32, here: 4 * 16 <= 32\n"},
        PointCase{{"runs", "n=4", "size=8", "-s", "train"},
                  "step train: no workpackage has n=4 size=8\n"
                  "  n:        is 1 with size=8\n"
                  "  size:     is 32 with n=4\n"
                  "  `where`:  keeps only $n * $b <= 32, here: 4 * $b <= 32\n"}})
    EXPECT_EQ(why(one.arguments), one.expected);
  // One that exists is explained in every step that has it.
  EXPECT_THAT(why({"runs", "n=1.0", "b=8"}), AllOf(StartsWith("workpackage 0 (train): done\n"),
                                                   HasSubstr("\n\nworkpackage 5 (check): done\n")));
  EXPECT_EQ(here_.text_of("why", {"runs", "sise=8"}, 1),
            "error: the benchmark has no parameter 'sise'\nhint: did you mean 'size'?\n");
  EXPECT_EQ(here_.text_of("why", {"runs", "17"}, 1),
            "error: run 0 has no workpackage 17\nhint: its workpackages are 0 to 7\n");
  EXPECT_THAT(here_.text_of("why", {"runs"}, 1),
              StartsWith("error: no workpackage and no point given"));
  EXPECT_THAT(here_.text_of("why", {"runs", "3", "n=1"}, 1),
              StartsWith("error: both a workpackage and a point"));
}

TEST_F(WhyTest, ManyAreListed) {
  here_.write("many.yaml",
              "name: many\noutpath: many\nparameterset: {name: p, parameter: [{n: [1]}, {m: "
              "[1,2,3,4,5,6,7,8,9,10,11,12]}]}\nstep: {name: s, use: p, do: test $m != 2}\n");
  here_.bench({"run", "many.yaml"});
  EXPECT_THAT(why({"many", "n=1"}),
              AllOf(StartsWith("step s: 12 workpackages have n=1; `bench why many/000000 NUMBER` "
                               "explains one\n"
                               "  0  done    n=1 m=1   \n"
                               "  1  failed  n=1 m=2   command 1 of 1: exit code 1\n"),
                    HasSubstr("  and 2 more\n")));
}

TEST_F(WhyTest, ARunThatIsWorkedOnIsReadMeanwhile) {
  here_.write("slow.yaml",
              "name: slow\noutpath: slow\nparameterset: {name: p, parameter: {n: [1, 2]}}\n"
              "step: {name: s, use: p, procs: 1, do: 'echo here; touch begun; sleep 100'}\n");
  Process run(here_.spec({"run", "slow.yaml", "--hide-animation"}));
  const bool begun =
      support::eventually([&] { return here_.has("slow/000000/000000_s/work/begun"); });
  const std::string running = why({"slow", "0"});
  const std::string waiting = why({"slow", "1"});
  run.signal_group(SIGTERM);
  run.wait();
  ASSERT_TRUE(begun);
  EXPECT_THAT(running, AllOf(StartsWith("workpackage 0 (s): running\n"),
                             HasSubstr("  bench:       process "), Not(HasSubstr("next:")),
                             HasSubstr("work/stdout <==\nhere\n")));
  EXPECT_THAT(waiting, AllOf(StartsWith("workpackage 1 (s): ready\n"),
                             HasSubstr("its turn: 1 workpackage running, 1 of step s, which has "
                                       "`procs: 1`\n")));
  EXPECT_THAT(why({"slow", "0"}),
              AllOf(StartsWith("workpackage 0 (s): ready\n"),
                    HasSubstr("before:      attempt 1 was interrupted: bench was interrupted\n"),
                    HasSubstr("bench:       no bench process is working on the run\n"),
                    HasSubstr("next:        bench continue slow --id 0\n")));
}

TEST_F(WhyTest, AValueOfAnotherTagIsNamedWithIt) {
  here_.write("tags.yaml", R"(name: t
outpath: t
parameterset:
  name: p
  parameter:
    - {name: n, tag: "!large", _: "1,2"}
    - {name: n, tag: large, _: "16,32"}
    - {name: gpus, tag: gpu, _: 4}
step: {name: s, use: p, do: echo}
)");
  here_.bench({"run", "tags.yaml"});
  EXPECT_THAT(why({"t", "n=16"}),
              HasSubstr("  n:     has no value 16; it has 1, 2; with the tag large it has\n"));
  EXPECT_EQ(here_.text_of("why", {"t", "gpus=4"}, 1),
            "error: the benchmark has no parameter 'gpus'\nhint: it has with the tag gpu\n");
}

TEST_F(WhyTest, WhatWaitsForAFileOrForTheOthersSaysSo) {
  here_.write("shared.yaml", R"(name: sh
outpath: sh
parameterset: {name: p, parameter: {n: [1, 2]}}
step:
  name: s
  use: p
  shared: both
  do: [{done_file: ready, _: echo wait}, {shared: "true", _: echo once}]
)");
  here_.bench({"run", "shared.yaml"});
  here_.write("sh/000000/000000_s/work/ready", "");
  here_.bench({"continue", "sh"});
  EXPECT_THAT(why({"sh", "0"}), HasSubstr("waits for:   command 2, which runs once for all of step "
                                          "s: 1 waiting there, 1 to come\n"));
  EXPECT_THAT(why({"sh", "1"}), HasSubstr("waits for:   the file ready, after its command 1\n"));
  EXPECT_EQ(here_.bench({"status", "sh"}).standard_output, "running\n");
}

TEST_F(WhyTest, NothingOfTheBenchmarkIsExecuted) {
  here_.write("script.yaml", R"(name: script
outpath: script
parameterset:
  name: p
  parameter:
    - {name: n, mode: shell, _: 'echo x >> witness; echo 7'}
step: {name: s, use: p, do: echo}
)");
  here_.bench({"run", "script.yaml"});
  const std::string witness = here_.read("witness");
  why({"script", "0"});
  why({"script", "n=7"});
  why({"script", "n=8"});
  EXPECT_EQ(here_.read("witness"), witness);
}

TEST_F(WhyTest, AProgramBesideTheInputFileIsNamed) {
  here_.write("prog.sh", "#!/bin/sh\n");
  here_.write("p.yaml", "name: p\noutpath: runs\nstep: {name: s, do: ./prog.sh 1}\n");
  here_.bench({"run", "p.yaml"});
  EXPECT_THAT(
      why({"0", "runs"}),
      HasSubstr("add `fileset: {name: files, copy: prog.sh}`, and `use: files` to step s\n"));
}

/// Each proposal is followed as it is printed.
TEST_F(WhyTest, WhatIsProposedForACorrectedFileWorks) {
  here_.write("t.yaml", "name: t\noutpath: runs\nstep: {name: s, do: fals}\n");
  here_.bench({"run", "t.yaml"});
  EXPECT_THAT(why({"0", "runs"}), HasSubstr("next:       bench continue runs --id 0 --failed\n"));
  here_.write("t.yaml", "name: t\noutpath: runs\nstep: {name: s, do: 'true'}\n");
  EXPECT_THAT(why({"0", "runs"}),
              HasSubstr("next:       bench continue runs --id 0 --failed -u t.yaml\n"));
  const auto old = here_.bench({"continue", "runs", "--id", "0", "--failed"});
  EXPECT_THAT(old.standard_error,
              HasSubstr("`bench continue runs --id 0 --failed -u t.yaml` uses"));
  EXPECT_THAT(old.standard_output,
              HasSubstr("again: bench continue runs --id 0 --failed -u t.yaml\n"));
  const auto without = here_.bench({"continue", "runs", "--id", "0", "-u", "t.yaml"});
  EXPECT_THAT(without.standard_error,
              HasSubstr("1 workpackage of the run failed and is not repeated"));
  EXPECT_EQ(here_.bench({"continue", "runs", "--id", "0", "--failed", "-u", "t.yaml"}).status.code,
            0);
  EXPECT_EQ(here_.bench({"status", "runs"}).standard_output, "finished\n");
}

TEST_F(WhyTest, ShowsWhatAPatternWithoutAMatchNearlyFound) {
  here_.write("near.yaml", R"(name: near
outpath: near
step: {name: s, do: "echo 'rate = 2.5'; echo 'total: 7'; seq 9; echo 'loss 0.25'; echo done"}
patternset:
  name: found
  pattern:
    - {name: blanks, _: rate=$jube_pat_fp}
    - {name: several, _: 'Total : $jube_pat_int'}
    - {name: kind, _: 'loss $jube_pat_int$'}
    - {name: case, _: DONE}
    - {name: nothing, _: speed=$jube_pat_fp}
analyser: {name: a, use: found, analyse: {step: s, file: stdout}}
result: {use: a, table: {name: t, column: [blanks, several, kind, case, nothing]}}
)");
  here_.bench({"run", "near.yaml"});
  const std::string text = why({"near", "0", "--lines", "2"});
  for (const char* said :
       {"blanks: no match in stdout, for `rate=$jube_pat_fp`",
        "`rate = 2.5` would match, but its blanks differ\n",
        "several: no match in stdout, for `Total : $jube_pat_int`",
        "`total: 7` would match, but its case, its blanks or its kind of number differ\n",
        "kind: no match in stdout, for `loss $jube_pat_int$`",
        "`loss 0.25` would match, but it is no integer\n", "case: no match in stdout, for `DONE`",
        "`done` would match, but its case differs\n",
        "nothing: no match in stdout, for `speed=$jube_pat_fp`\n",
        "stdout <==\nrate = 2.5\ntotal: 7\n", "stdout <==\nloss 0.25\ndone\n"})
    EXPECT_THAT(text, HasSubstr(said));
}

}  // namespace
}  // namespace bench::end_to_end
