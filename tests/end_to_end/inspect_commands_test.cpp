#include "bench_program.hpp"
#include "support/patience.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

/// One run of three squares, with the tags `a` and `b`.
class InspectTest : public testing::Test {
 protected:
  void SetUp() override {
    here_.write("small.yaml", small_sweep());
    here_.bench({"run", "small.yaml", "-t", "a", "b"});
  }
  std::string shown(std::vector<std::string> arguments) const {
    const auto output = here_.bench(std::move(arguments));
    EXPECT_EQ(output.status.code, 0) << output.standard_error;
    return output.standard_output;
  }
  Playground here_;
};

TEST_F(InspectTest, InfoShowsRunsStepsAndWorkpackages) {
  EXPECT_THAT(
      shown({"info", "runs"}),
      MatchesRegex(
          "\\| id \\|  name \\| +started \\| +last change \\| +comment \\| tags \\| +status \\|\n"
          "[-|]+\n"
          "\\|  0 \\| small \\| [0-9: +-]+ \\| [0-9: +-]+ \\| three squares \\|  a,b \\| finished "
          "\\|\n"));
  EXPECT_THAT(shown({"info", "runs", "-i", "last"}),
              AllOf(HasSubstr("     directory: runs/000000\n"),
                    HasSubstr("  | compute |   3 |    3 |      0 |\n"), HasSubstr("input_sha256: "),
                    HasSubstr("host: "), HasSubstr("platform: local")));
  EXPECT_THAT(
      shown({"info", "runs", "-s", "check"}),
      AllOf(StartsWith("step:        check\ndepends on:  compute\nrun:         runs"),
            HasSubstr("|  4 |         0 |       1 |  done |        1 | 000004_check | n=2 square=4 "
                      "|        |\n")));
  EXPECT_THAT(shown({"info", "runs", "-s"}),
              AllOf(HasSubstr("step:  compute\n"), HasSubstr("step:        check\n")));
  EXPECT_THAT(shown({"info", "runs", "-s", "check", "-p"}),
              HasSubstr("\nworkpackage 4\n  n:       2\n  square:  4\n"));
  EXPECT_THAT(
      shown({"info", "runs", "-w", "1", "4"}),
      AllOf(HasSubstr("directory:    runs/000000/000001_compute\nchildren:     4 (check)\n"),
            HasSubstr("parents:      1 (compute)\n"),
            HasSubstr("\nparameters\n  n:       2\n  square:  4\n")));
}

TEST_F(InspectTest, InfoAsCsvCanBeReadByAMachine) {
  here_.write("odd.yaml", R"(name: odd
outpath: odd
parameterset: {name: p, parameter: {name: q, separator: ;, _: 'a "b", c;d e'}}
step: {name: s, use: p, do: echo}
)");
  here_.bench({"run", "odd.yaml"});
  EXPECT_THAT(
      shown({"info", "odd", "-s", "s", "-c"}),
      AllOf(StartsWith("id,q,jube_benchmark_name,jube_benchmark_id,jube_benchmark_padid,"
                       "jube_benchmark_home,jube_benchmark_rundir,jube_benchmark_start,"
                       "jube_step_name,jube_step_iterations,jube_step_cycles,jube_wp_id,"
                       "jube_wp_padid,jube_wp_iteration,jube_wp_cycle,jube_wp_relpath,"
                       "jube_wp_abspath,jube_wp_envstr,jube_wp_envlist,jube_wp_status,"),
            HasSubstr("\n0,\"a \"\"b\"\", c\",odd,0,000000,"), HasSubstr("\n1,d e,odd,0,000000,")));
  EXPECT_THAT(shown({"info", "odd", "-s", "s", "-c", ";"}), HasSubstr("\n1;d e;"));
}

TEST_F(InspectTest, StatusIsOneWordPerRun) {
  here_.write("bad.yaml", "name: bad\noutpath: runs\nstep: {name: s, do: 'false'}\n");
  here_.bench({"run", "bad.yaml"});
  EXPECT_EQ(shown({"status", "runs", "-i", "all"}), "finished\nfailed\n");
}

TEST_F(InspectTest, OutputListsTheFilesSortedOrShowsThem) {
  const std::string run = (fs::canonical(here_.path()) / "runs/000000/").string();
  EXPECT_EQ(shown({"output", "runs", "-s", "compute", "-o", "stdout"}),
            run + "000000_compute/work/stdout\n" + run + "000001_compute/work/stdout\n" + run +
                "000002_compute/work/stdout\n");
  EXPECT_EQ(shown({"output", "runs", "-w", "3"}),
            run + "000003_check/work/stderr\n" + run + "000003_check/work/stdout\n");
  EXPECT_EQ(shown({"output", "runs", "-w", "3", "-o", "stdout", "-d"}),
            "==> " + run + "000003_check/work/stdout <==\nsquare=1\n\n");
}

TEST_F(InspectTest, OutputFollowsTheNamesThatTheCommandsGive) {
  here_.write("named.yaml",
              "name: named\noutpath: named\n"
              "parameterset: {name: p, parameter: {n: [1, 2]}}\n"
              "step: {name: s, use: p, do: {stdout: out_$n.$jube_wp_id, _: echo hi}}\n");
  here_.bench({"run", "named.yaml"});
  const std::string run = (fs::canonical(here_.path()) / "named/000000/").string();
  EXPECT_EQ(shown({"output", "named", "-o", "stdout"}),
            run + "000000_s/work/out_1.0\n" + run + "000001_s/work/out_2.1\n");
}

TEST_F(InspectTest, ADeletedCurrentDirectoryIsNoDefect) {
  ProcessSpec spec = here_.spec({"info", (here_.path() / "runs").string(), "-i", "0"});
  spec.arguments.insert(spec.arguments.begin(),
                        {"sh", "-c", "mkdir gone; cd gone; rmdir ../gone; exec \"$@\"", "sh"});
  EXPECT_EQ(run_command(std::move(spec), support::far_too_long_s).standard_error, "");
}

TEST_F(InspectTest, CommentIsReplacedOrAddedTo) {
  EXPECT_EQ(shown({"comment", "new", "runs"}), "run 0: new\n");
  EXPECT_EQ(shown({"comment", "-a", "er", "runs", "-i", "0"}), "run 0: newer\n");
  EXPECT_THAT(shown({"info", "runs"}), HasSubstr("|   newer |"));
  EXPECT_THAT(here_.bench({"continue", "runs"}).standard_output, HasSubstr("#\n# newer\n"));
}

TEST_F(InspectTest, TagShowsTheTagsOfAFileAndOfARunWithTheirDescriptions) {
  EXPECT_THAT(here_.bench({"tag", "none.yaml"}).standard_error,
              HasSubstr("cannot read none.yaml: No such file"));
  EXPECT_THAT(shown({"tag", "runs"}), StartsWith("run 0: tags a,b\n"));
  here_.write("tagged.yaml",
              "name: d\noutpath: d\n"
              "tags: {tag: {name: gpu, _: use the accelerator}}\n"
              "parameterset: {name: p, parameter: {name: n, tag: gpu+!debug, _: 1}}\n"
              "step: {name: s, do: echo}\n");
  EXPECT_EQ(shown({"tag", "tagged.yaml"}),
            "|   tag |         description |\n|-------|---------------------|\n"
            "| debug |                     |\n|   gpu | use the accelerator |\n");
  here_.bench({"run", "tagged.yaml"});
  EXPECT_EQ(shown({"tag", "d"}),
            "run 0: no tags\n"
            "| tag |         description |\n|-----|---------------------|\n"
            "| gpu | use the accelerator |\n");
}

/// The log lines without their times.
std::string without_times(const std::string& log) {
  std::string text;
  for (std::size_t at = 0; at < log.size();) {
    const auto end = std::min(log.find('\n', at), log.size() - 1);
    const std::string line = log.substr(at, end + 1 - at);
    EXPECT_THAT(line, MatchesRegex("\\[[0-9]+-[0-9]+-[0-9]+ [0-9:]+,[0-9][0-9][0-9]\\]:.*\n"));
    text += line.substr(line.find("]:") + 2);
    at = end + 1;
  }
  return text;
}

TEST_F(InspectTest, ARunLeavesItsLog) {
  EXPECT_THAT(without_times(here_.read("runs/000000/run.log")),
              AllOf(StartsWith("INFO: command: bench run small.yaml -t a b\n"
                               "INFO: benchmark small, run 0, platform local, tags a,b\n"
                               "INFO: step compute: 3 workpackages, 3 done\n"),
                    HasSubstr("INFO: end: exit code 0, after ")));
  EXPECT_THAT(without_times(here_.read("runs/000000/parse.log")),
              AllOf(StartsWith("INFO: command: bench run small.yaml -t a b\n"),
                    HasSubstr("WARNING: small.yaml: warning: tag 'a' selects nothing")));
  EXPECT_THAT(shown({"log", "runs"}), AllOf(StartsWith("==> runs/000000/parse.log <==\n["),
                                            HasSubstr("==> runs/000000/run.log <==\n[")));
  EXPECT_THAT(shown({"log", "runs", "-c", "run"}), Not(HasSubstr("parse.log")));
  const auto wrong = here_.bench({"log", "runs", "-c", "rnu"});
  EXPECT_EQ(wrong.status.code, 1);
  EXPECT_EQ(wrong.standard_error,
            "error: command 'rnu' does not write a log\nhint: did you mean 'run'?\n");
}

TEST_F(InspectTest, TheLogKeepsFailuresAndIsAppendedTo) {
  here_.write("bad.yaml", "name: bad\noutpath: bad\nstep: {name: s, do: 'echo why >&2; false'}\n");
  here_.bench({"run", "bad.yaml"});
  EXPECT_THAT(without_times(here_.read("bad/000000/run.log")),
              HasSubstr("ERROR: workpackage 0 (s) failed: command 1 of 1: exit code 1: why\n"));
  here_.bench({"continue", "bad"});
  here_.bench({"continue", "bad"});
  const std::string again = without_times(here_.read("bad/000000/continue.log"));
  EXPECT_NE(again.find("command: bench continue bad"), again.rfind("command: bench continue bad"));
  EXPECT_THAT(again, HasSubstr("ERROR: end: exit code 1, after "));
  here_.bench({"analyse", "bad"});
  EXPECT_THAT(without_times(here_.read("bad/000000/analyse.log")), HasSubstr("end: exit code 0"));
}

TEST_F(InspectTest, TheLogKeepsTheErrorThatEndsACommand) {
  here_.write("bad.yaml", R"(name: bad
outpath: bad
parameterset: {name: p, parameter: {name: n, _: 1}}
step: {name: s, use: p, do: echo}
analyser: {name: a, analyse: {step: s}}
result: {use: a, table: {name: t, filter: $n >, column: n}}
)");
  here_.bench({"run", "bad.yaml"});
  EXPECT_EQ(here_.bench({"result", "bad"}).status.code, 1);
  EXPECT_THAT(without_times(here_.read("bad/000000/result.log")),
              AllOf(HasSubstr("\nERROR: bad.yaml:6:"), HasSubstr("end: exit code 1")));
}

TEST_F(InspectTest, VerboseShowsTheLogOnTheConsole) {
  for (const char* option : {"-v", "-vvv", "--verbose"})
    EXPECT_THAT(here_.bench({"run", "small.yaml", option}).standard_error,
                HasSubstr("]:INFO: step check: 3 workpackages, 3 done"));
}

/// Every command that is about runs that are there.
const std::vector<std::vector<std::string>> about_runs{
    {"continue", "runs"}, {"analyse", "runs"},     {"result", "runs"}, {"info", "runs"},
    {"status", "runs"},   {"log", "runs"},         {"output", "runs"}, {"comment", "x", "runs"},
    {"tag", "runs"},      {"remove", "runs", "-f"}};

TEST_F(InspectTest, WhatIsNotThereIsAnErrorWithWhatIs) {
  fs::create_directory(here_.path() / "empty");
  for (const std::vector<std::string>& command : about_runs) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"-i", "7"});
    const auto wrong_id = here_.bench(arguments);
    EXPECT_EQ(wrong_id.status.code, 1) << arguments.front();
    EXPECT_EQ(wrong_id.standard_error,
              "error: there is no run 7 in runs\nhint: the runs there: 0\n");
    arguments = command;
    std::ranges::replace(arguments, "runs", "empty");
    const auto no_run = here_.bench(arguments);
    EXPECT_EQ(no_run.status.code, 1) << arguments.front();
    EXPECT_THAT(no_run.standard_error, StartsWith("error: there is no run in empty\n"));
  }
  for (const char* command : {"info", "output"}) {
    const auto no_step = here_.bench({command, "runs", "-s", "compite"});
    EXPECT_EQ(no_step.status.code, 1);
    EXPECT_EQ(no_step.standard_error,
              "error: run 0 has no step 'compite'\nhint: did you mean 'compute'?\n");
  }
}

TEST_F(InspectTest, ADirectoryIsThatOfRunsOrOfARunAndNoneThatAnOptionTakes) {
  for (const char* command : {"status", "info", "log", "output", "tag"})
    EXPECT_THAT(shown({command, "runs/000000", "-i", "0"}), Not(IsEmpty())) << command;
  const auto refused = here_.bench({"info", "-i", "0", "runs"});
  EXPECT_EQ(refused.status.code, 2);
  EXPECT_THAT(
      refused.standard_error,
      HasSubstr("hint: --id consumed 'runs' as a value; put DIR first, or `--` before it\n"));
  EXPECT_THAT(shown({"status", "-i", "0", "--", "runs"}), "finished\n");
}

TEST_F(InspectTest, NothingThatOnlyATerminalUnderstandsGoesIntoAPipe) {
  for (const std::vector<std::string>& arguments : about_runs) {
    const auto output = here_.bench(arguments);
    EXPECT_THAT(output.standard_output + output.standard_error, Not(HasSubstr("\x1b")))
        << arguments.front();
  }
}

}  // namespace
}  // namespace bench::end_to_end
