#include "bench_program.hpp"

#include <string>

#include <gmock/gmock.h>

#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// JUBE reads this file, and CARAML's have this key eleven times.
constexpr const char* for_jube = R"(name: m
outpath: runs
parameterset: {name: p, parameter: {name: threads, seperator: ";", _: "1,2"}}
step: {name: s, use: p, do: 'echo v=$thread'}
analyser: {name: a, analyse: {step: s}}
result: {use: a, table: {name: t, column: [threads]}}
)";

TEST(Mistakes, OfAFileThatJubeCouldReadAreWarningsBeforeTheRunAndUnderTheTable) {
  const Playground here;
  const auto run = here.run("m.yaml", for_jube, {"-r"});
  const std::string unknown_key =
      "unknown key 'seperator' in parameter 'threads'\n"
      "  parameterset: {name: p, parameter: {name: threads, seperator: \";\", _: \"1,2\"}}\n"
      "                                                     ^\n"
      "hint: did you mean 'separator'?\n";
  EXPECT_THAT(run.standard_error, HasSubstr("m.yaml:3:52: warning: " + unknown_key));
  for (const char* said :
       {"warning: unknown key 'seperator' in parameter 'threads'\n",
        "warning: a command of step 's' uses 'thread', which is not a parameter"}) {
    const auto first = run.standard_error.find(said);
    ASSERT_NE(first, std::string::npos) << said;
    EXPECT_NE(run.standard_error.find(said, first + 1), std::string::npos) << said;
  }
  const auto strict = here.bench({"run", "m.yaml", "--strict"});
  EXPECT_EQ(strict.status.code, 1);
  EXPECT_EQ(strict.standard_error, "m.yaml:3:52: error: " + unknown_key);
  EXPECT_THAT(here.text_of("check", {"m.yaml"}, 0), HasSubstr("uses 'thread'"));
}

TEST(Mistakes, AreErrorsWhereTheFileNamesTheSchemaUnlessLenient) {
  const Playground here;
  const auto refused = here.run(
      "m.yaml", std::string("# yaml-language-server: $schema=bench.schema.json\n") + for_jube, {},
      1);
  EXPECT_THAT(refused.standard_error,
              StartsWith("m.yaml:4:52: error: unknown key 'seperator' in parameter 'threads'\n"));
  EXPECT_FALSE(here.has("runs"));
  EXPECT_EQ(here.bench({"check", "m.yaml", "--lenient"}).status.code, 0);
  EXPECT_EQ(here.bench({"run", "m.yaml", "--lenient"}).status.code, 0);
}

constexpr const char* late_value = R"(name: m
outpath: runs
parameterset: {name: p, parameter: {n: {type: int, mode: shell, _: cat values}}}
step:
  - {name: make, do: 'printf one,2 > $jube_benchmark_home/values'}
  - {name: go, depend: make, use: p, do: echo n=$n}
)";

TEST(Mistakes, AValueThatIsKnownLaterFailsAlone) {
  const Playground here;
  here.write("m.yaml", late_value);
  EXPECT_EQ(here.bench({"check", "m.yaml", "--strict"}).status.code, 0);
  const auto output = here.bench({"run", "m.yaml"});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(output.standard_error, HasSubstr("value 'one' of parameter 'n' is not an integer\n"));
  EXPECT_EQ(here.read("runs/000000/000002_go/work/stdout"), "n=2\n");
  EXPECT_FALSE(here.has("runs/000000/000001_go"));
}

TEST(Mistakes, InAnUpdateAreFoundBeforeItsWorkpackagesAreMade) {
  const Playground here;
  const std::string steps =
      "step:\n  - {name: a, use: p, do: echo $n}\n"
      "  - {name: b, depend: a, use: q, do: echo $m}\n";
  const auto with = [&](const std::string& n, const std::string& m) {
    return "name: m\noutpath: runs\nparameterset:\n  - {name: p, parameter: {n: " + n +
           "}}\n  - {name: q, parameter: {m: {mode: python, type: int, _: " + m + "}}}\n" + steps;
  };
  here.run("m.yaml", with("[1]", "10 // $n"));
  here.write("m.yaml", with("[1, 0]", "10 // $n"));
  const auto output = here.bench({"continue", "runs", "-u", "m.yaml"});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(output.standard_error, HasSubstr("ZeroDivisionError"));
  EXPECT_FALSE(here.has("runs/000000/000002_a"));
}

TEST(Mistakes, ASecondFileIsReadBeforeTheFirstOneRuns) {
  const Playground here;
  here.write("a.yaml", small_sweep());
  here.write("b.yaml", "name: b\noutpath: runs\nstep: {name: s, use: nothing, do: echo}\n");
  for (const char* second : {"b.yaml", "missing.yaml"}) {
    EXPECT_EQ(here.bench({"run", "a.yaml", second}).status.code, 1) << second;
    EXPECT_FALSE(here.has("runs")) << second;
  }
}

TEST(Mistakes, EachOfTwoFilesHasItsOwnParseLog) {
  const Playground here;
  here.write("a.yaml", small_sweep());
  here.write("b.yaml", "name: b\noutpath: runs\nunknown: 1\nstep: {name: s, do: echo}\n");
  EXPECT_EQ(here.bench({"run", "a.yaml", "b.yaml"}).status.code, 0);
  EXPECT_THAT(here.read("runs/000000/parse.log"), Not(HasSubstr("unknown")));
  EXPECT_THAT(here.read("runs/000001/parse.log"), HasSubstr("unknown key 'unknown'"));
}

/// A parameter in the expression hides the mistake until the run is analysed.
TEST(Mistakes, AfterOneInTheAnalysisTheMessageSaysHowToGoOn) {
  const Playground here;
  const std::string input = small_sweep();
  here.write("m.yaml", replace_all(input, "square=$jube_pat_int", "'square=([$n'"));
  const std::string advice = "hint: once m.yaml is corrected: bench result runs --id 0 -u m.yaml\n";
  const auto run = here.bench({"run", "m.yaml", "--result"});
  EXPECT_EQ(run.status.code, 1);
  EXPECT_THAT(run.standard_error, HasSubstr(advice));
  EXPECT_THAT(here.bench({"result", "runs"}).standard_error, HasSubstr(advice));
  here.write("m.yaml", input);
  const auto corrected = here.bench({"result", "runs", "--id", "0", "-u", "m.yaml"});
  EXPECT_EQ(corrected.status.code, 0) << corrected.standard_error;
  EXPECT_THAT(corrected.standard_output, HasSubstr("| 2 |      4 |\n"));
}

/// Each parameter is 0.5 first.
TEST(Mistakes, AFractionOfALaterStepIsWarnedOfOnce) {
  const Playground here;
  const auto output = here.run("f.yaml", R"(name: f
outpath: runs
parameterset:
  - {name: first, parameter: [{n: [1, 2, 3]}, {name: real, type: float, mode: python, _: $n / 2}]}
  - name: second
    parameter:
      - {name: python, type: int, mode: python, _: $n / 2}
      - {name: shell, type: int, mode: shell, _: "echo $n | awk '{print $1 / 2}'"}
      - {name: other, type: int, _: $real}
      - {name: late, type: int, mode: python, _: ($jube_wp_id + 1) / 2}
step: [{name: a, use: first, do: echo $n}, {name: b, depend: a, use: second, do: echo $late}]
)",
                               {"--strict"}, 1);  // a warning of a run that is strict
  for (const char* name : {"python", "shell", "other", "late"})
    EXPECT_EQ(
        split(output.standard_error, std::string("warning: parameter '") + name + "' has type int")
            .size(),
        2U)
        << output.standard_error;
  EXPECT_EQ(here.bench({"status", "runs"}).standard_output, "finished\n");
}

TEST(Mistakes, AFileThatIsEditedAfterItsRunIsNotReadAgain) {
  const Playground here;
  here.run("a.yaml", small_sweep());
  EXPECT_THAT(here.bench({"continue", "runs"}).standard_error, Not(HasSubstr("has changed")));
  here.write("a.yaml", std::string(small_sweep()) + "# edited\n");
  const auto output = here.bench({"continue", "runs"});
  EXPECT_EQ(output.status.code, 0);
  EXPECT_THAT(output.standard_error,
              HasSubstr("note: a.yaml has changed; this run continues with the recorded version"));
}

}  // namespace
}  // namespace bench::end_to_end
