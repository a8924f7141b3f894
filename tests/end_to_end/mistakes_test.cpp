#include "bench_program.hpp"

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Mistake {
  std::string name;
  std::string replaced;  ///< In the file below.
  std::string by;
  std::string message;
};
void PrintTo(const Mistake& one, std::ostream* out) {
  *out << one.name;
}

constexpr const char* correct = R"(name: m
outpath: runs
parameterset: {name: p, parameter: {number: [1, 2]}}
fileset: {name: f, copy: m.yaml}
step: {name: s, use: [p, f], where: $number > 0, active: $number < 9, do: 'echo v=$number'}
patternset:
  name: pats
  pattern:
    - {name: value, type: int, _: v=$jube_pat_int}
    - {name: twice, mode: python, type: int, _: 2 * $value}
analyser: {name: a, use: pats, analyse: {step: s, file: stdout}}
result: {use: a, table: {name: t, column: [number, {format: d, _: value}, twice]}}
)";

class MistakeTest : public testing::TestWithParam<Mistake> {
 protected:
  Playground here_;
};

TEST_P(MistakeTest, IsFoundBeforeAnythingRuns) {
  std::string yaml = correct;
  const auto at = yaml.find(GetParam().replaced);
  ASSERT_NE(at, std::string::npos);
  yaml.replace(at, GetParam().replaced.size(), GetParam().by);
  here_.write("m.yaml", yaml);
  for (const char* command : {"check", "run"}) {
    const auto output = here_.bench({command, "m.yaml"});
    EXPECT_EQ(output.status.code, 1) << command;
    EXPECT_THAT(output.standard_error, AllOf(StartsWith("m.yaml:"), HasSubstr(GetParam().message)))
        << command;
    EXPECT_FALSE(here_.has("runs")) << command;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, MistakeTest,
    testing::Values(
        Mistake{"RegularExpression", "v=$jube_pat_int", "'v=(['", "error: "},
        Mistake{"PredefinedPattern", "$jube_pat_int", "$jube_pat_float",
                "which is no predefined pattern\n"},
        Mistake{"Format", "format: d", "format: .2d", "error: format '.2d': a precision"},
        Mistake{"FormatOfC", "format: d", "format: '%.2f'", "error: format '%.2f' is invalid"},
        Mistake{"DerivedPattern", "2 * $value", "2 * $valeu",
                "error: pattern 'twice' uses 'valeu', which is not a parameter or pattern\n"},
        Mistake{"Where", "$number > 0", "$nmber > 0",
                "error: `where` of step 's' uses 'nmber', which is not a parameter of the step\n"},
        Mistake{"Active", "$number < 9", "$numbr < 9",
                "error: `active` of step 's' uses 'numbr', which is not a parameter of the step\n"},
        Mistake{"Filter", "twice]}", "twice], filter: $nubmer > 1}",
                "error: the filter of table 't' uses 'nubmer', which is not a parameter or pattern "
                "of this result\n"},
        Mistake{"Key", "step: {name: s", "step: {name: s, iteration: 3",
                "error: unknown key 'iteration' in step 's'\n"},
        Mistake{"KeyWithoutANearOne", "step: {name: s", "step: {name: s, colour: 3",
                "error: unknown key 'colour' in step 's'\n"},
        Mistake{"Batch", "step: {name: s", "step: {name: s, batch: {time: 5m}",
                "hint: did you mean 'time_limit'?\n"},
        Mistake{"Command", "echo v=$number", "echo v=$number$numbr",
                "error: a command of step 's' uses 'numbr', which is not a parameter\n"},
        Mistake{"Column", "[number,", "[numbr,",
                "error: column 'numbr' is not a parameter or pattern of this result\n"},
        Mistake{"FilterInQuotes", "twice]}", "twice], filter: \"'$numbr' != '1'\"}",
                "error: the filter of table 't' uses 'numbr'"},
        Mistake{"InQuotes", "$number < 9", "\"'$numbr' != 'gpu'\"",
                "error: `active` of step 's' uses 'numbr'"},
        Mistake{"Type", "type: int, _: v", "type: integer, _: v",
                "error: unknown type 'integer': the values of 'value' are treated as strings\n"},
        Mistake{"EmptyList", "parameter: {number: [1, 2]}",
                "parameter: [{number: [1, 2]}, {name: more, _: []}]",
                "error: parameter 'more' has an empty list\n"},
        Mistake{"TimeLimit", "step: {name: s", "step: {name: s, batch: {time_limit: 5}",
                "error: time_limit '5' has no unit\n"},
        Mistake{"TimeLimitOfAParameter", "step: {name: s",
                "step: {name: s, batch: {time_limit: $number}",
                "error: time_limit '1' has no unit"},
        Mistake{"Size", "step: {name: s", "step: {name: s, batch: {nodes: x$number}",
                "error: nodes of step 's' must be an integer of at least 1: x1\n"},
        Mistake{"Sort", "twice]}", "twice], sort: valeu}",
                "error: table 't' is sorted by 'valeu', which is not a parameter or pattern of "
                "this result\n"},
        Mistake{"Mean", "{format: d, _: value}", "value_mean", "hint: did you mean 'value_avg'?\n"},
        Mistake{"Source", "copy: m.yaml}\nstep: {",
                "copy: n.yaml}\nstep:\n  - {name: first, use: f, do: 'true'}\n  - {",
                "error: no file matches 'n.yaml'\n"}),
    [](const auto& one) { return one.param.name; });

/// What the shell, or a row, may know all the same.
class DoubtTest : public MistakeTest {};

TEST_P(DoubtTest, IsWarnedOfBeforeAnythingRuns) {
  std::string yaml = correct;
  yaml.replace(yaml.find(GetParam().replaced), GetParam().replaced.size(), GetParam().by);
  here_.write("m.yaml", yaml);
  EXPECT_THAT(here_.bench({"check", "m.yaml"}).standard_error, HasSubstr(GetParam().message));
  EXPECT_EQ(here_.bench({"run", "m.yaml"}).status.code, 0);
  EXPECT_EQ(here_.bench({"check", "m.yaml", "--strict"}).status.code, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Files, DoubtTest,
    testing::Values(
        Mistake{"Command", "echo v=$number", "echo v=$number$nthr",
                "warning: a command of step 's' uses 'nthr', which is not a parameter\n"},
        Mistake{"Comment", "do: 'echo v=$number'}", "do: echo v=$number # b; ./x\n  }",
                "warning: '# b; ./x' is a comment in YAML\n"},
        Mistake{"JobScript", "do: 'echo v=$number'", "batch: true, do: 'echo v=$number in $folder'",
                "warning: a command of step 's' uses 'folder', which is not a parameter\n"},
        Mistake{"Substitution", "step: {name: s, use: [p, f]",
                "substituteset:\n  name: r\n  iofile: {in: m.yaml, out: job}\n"
                "  sub: {source: '#RUN#', dest: 'python3 ${folder}/train.py'}\n"
                "step: {name: s, use: [p, f, r]",
                "warning: the substitution for '#RUN#' uses 'folder', which is not a parameter of "
                "step 's'\n"},
        Mistake{"Column", "[number,", "[other,",
                "warning: column 'other' is not a parameter or pattern of this result\n"},
        Mistake{"MaxAsync", "step: {name: s", "step: {name: s, max_async: $number",
                "warning: max_async of step 's' differs between its workpackages\n"},
        Mistake{"FilterSyntax", "twice]}", "twice], filter: $number >}",
                "warning: invalid expression in the filter of table 't': SyntaxError"},
        Mistake{"FilterStatement", "twice]}", "twice], filter: import os}",
                "warning: invalid expression in the filter of table 't': SyntaxError"},
        Mistake{"FilterInQuotes", "twice]}", "twice], filter: \"'$other' != '1'\"}",
                "warning: the filter of table 't' uses 'other'"},
        Mistake{"InQuotes", "$number < 9", "\"'$other' != 'gpu'\"",
                "warning: `active` of step 's' uses 'other'"},
        Mistake{"LoopVariable", "echo v=$number", "for number in 4 5; do echo v=$number; done",
                "warning: the shell variable 'number' has the name of a parameter"}),
    [](const auto& one) { return one.param.name; });

TEST(Mistakes, TheCorrectFileHasNone) {
  const Playground here;
  for (const char* filter :
       {"", ", filter: $value < 9 and $jube_wp_id >= 0",
        ", filter: '\"$number\" in (\"1\", $value_avg)'", ", filter: '$number$number.5 > 1'"}) {
    std::string yaml = correct;
    yaml.replace(yaml.find("twice]"), 6, std::string("twice]") + filter);
    here.write("m.yaml", yaml);
    const auto output = here.bench({"check", "m.yaml", "--strict"});
    EXPECT_EQ(output.status.code, 0) << filter << output.standard_error;
  }
}

/// No shell reads these, so that an unknown name would become a part of the file's name.
TEST(Mistakes, AnUnknownNameInThatOfAFileIsADoubt) {
  const Playground here;
  here.write("in", "");
  here.write("m.yaml", R"(name: m
outpath: runs
parameterset: {name: p, parameter: {node: 1, TASKS: 2}}
fileset: {name: f, copy: {name: copy$nodes, _: in}, prepare: {stdout: prep$nodes, _: echo $nodes}}
substituteset: {name: r, iofile: {in: in, out: made$nodes}, sub: {source: x, dest: z}}
step:
  name: s
  use: [p, f, r, set$nodes]
  shared: shared$nodes
  do_log_file: log$nodes
  do:
    - {done_file: done$nodes, error_file: error$nodes, break_file: break$nodes, _: 'true'}
    - {stdout: out$nodes, stderr: err$TASK, _: 'run $node in $HOME'}
    - {done_file: $HOME/done$node, stdout: $jube_wp_id, stderr: $TASKS$SCRATCH, _: 'true'}
patternset: {name: pats, pattern: {name: value, _: x}}
analyser: {name: a, use: pats, analyse: {step: s, file: out$nodes}}
)");
  const std::string said = here.bench({"check", "m.yaml", "--lenient"}).standard_error;
  for (const char* what :
       {"'copy$nodes' of file set 'f' uses 'nodes'", "`stdout` of a command uses 'nodes'",
        "a command of step 's' uses 'nodes'", "'made$nodes' of substitute set 'r' uses 'nodes'",
        "`use` uses 'nodes'", "`shared` uses 'nodes'", "`do_log_file` uses 'nodes'",
        "`done_file` of a command uses 'nodes'", "`error_file` of a command uses 'nodes'",
        "`break_file` of a command uses 'nodes'", "`stderr` of a command uses 'TASK'",
        "`file` of analyser 'a' uses 'nodes'"})
    EXPECT_THAT(said, HasSubstr(what));
  EXPECT_THAT(said, HasSubstr("m.yaml:12:84: warning: `done_file` of a command uses 'nodes', which "
                              "is not a parameter of step 's'\n"));
  EXPECT_THAT(said, HasSubstr("hint: did you mean 'node'?\n"));
  EXPECT_THAT(said, Not(HasSubstr("m.yaml:14")));
}

TEST(Mistakes, ASourceOfAStepThatNeverRunsIsNone) {
  const Playground here;
  here.write("m.yaml",
             "name: m\noutpath: runs\nfileset: {name: f, copy: missing}\n"
             "step:\n  - {name: a, use: f, active: 'false', do: 'false'}\n"
             "  - {name: b, do: 'echo b'}\n");
  const auto output = here.bench({"run", "m.yaml"});
  EXPECT_EQ(output.status.code, 0) << output.standard_error;
  EXPECT_THAT(output.standard_error, Not(HasSubstr("missing")));
}

TEST(Mistakes, ASourceThatMayBeMadeOrMayNotBeNeededIsADoubt) {
  for (const auto& [source, steps] : std::vector<std::pair<std::string, std::string>>{
           {"made",
            "parameterset: {name: p, parameter: {name: g, mode: shell, _: 'touch made; echo g'}}\n"
            "step: {name: a, use: [p, f], do: 'test -e made'}\n"},
           {"made",
            "parameterset: {name: p, parameter: {needed: false}}\n"
            "step:\n  - {name: a, use: [p, f], active: $needed, do: 'true'}\n"
            "  - {name: b, do: 'true'}\n"},
           {"runs/made",
            "step:\n  - {name: make, do: 'touch ../../../made'}\n"
            "  - {name: take, depend: make, use: f, do: 'test -e made'}\n"}}) {
    const Playground here;
    here.write("m.yaml",
               "name: m\noutpath: runs\nfileset: {name: f, copy: " + source + "}\n" + steps);
    const auto output = here.bench({"run", "m.yaml"});
    EXPECT_EQ(output.status.code, 0) << output.standard_error;
    EXPECT_THAT(output.standard_error, HasSubstr("warning: no file matches '" + source + "'\n"));
  }
}

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
  here.write("m.yaml", for_jube);
  const auto run = here.bench({"run", "m.yaml", "-r"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  for (const char* said :
       {"warning: unknown key 'seperator' in parameter 'threads'\n",
        "warning: a command of step 's' uses 'thread', which is not a parameter"}) {
    const auto first = run.standard_error.find(said);
    ASSERT_NE(first, std::string::npos) << said;
    EXPECT_NE(run.standard_error.find(said, first + 1), std::string::npos) << said;
  }
  EXPECT_EQ(here.bench({"run", "m.yaml", "--strict"}).status.code, 1);
}

TEST(Mistakes, AreErrorsWhereTheFileNamesTheSchemaUnlessLenient) {
  const Playground here;
  here.write("m.yaml",
             std::string("# yaml-language-server: $schema=bench.schema.json\n") + for_jube);
  const auto refused = here.bench({"run", "m.yaml"});
  EXPECT_EQ(refused.status.code, 1);
  EXPECT_THAT(refused.standard_error,
              StartsWith("m.yaml:4:52: error: unknown key 'seperator' in parameter 'threads'\n"));
  EXPECT_FALSE(here.has("runs"));
  EXPECT_EQ(here.bench({"check", "m.yaml", "--lenient"}).status.code, 0);
  EXPECT_EQ(here.bench({"run", "m.yaml", "--lenient"}).status.code, 0);
}

TEST(Mistakes, OfAnXmlFileForBenchAreErrors) {
  const Playground here;
  for (const auto& [attribute, code] :
       std::vector<std::pair<std::string, int>>{{"", 0}, {" where=\"true\"", 1}}) {
    here.write("m.xml",
               "<jube><benchmark name=\"m\" outpath=\"runs\"><step name=\"s\" "
               "iteration=\"3\"" +
                   attribute + "><do>true</do></step></benchmark></jube>\n");
    const auto output = here.bench({"run", "m.xml"});
    EXPECT_EQ(output.status.code, code);
    EXPECT_THAT(output.standard_error, HasSubstr("unknown attribute 'iteration'"));
  }
}

/// The shell may have these variables from elsewhere.
TEST(Mistakes, NamesThatTheShellMayHaveAreNone) {
  const Playground here;
  for (const char* command :
       {"echo $from_outside", "echo ''$x'' | awk '{print $field}'", ". ./env.sh; echo $nthr",
        "nthr=3; echo $nthr", "echo $SCRATCH", "eval $(env); echo $nthr"}) {
    here.write("m.yaml",
               "name: m\noutpath: runs\nparameterset: {name: p, parameter: {x: 1}}\n"
               "step: {name: s, use: p, do: \"" +
                   std::string(command) + "\"}\n");
    const auto output = here.bench({"check", "m.yaml", "--strict"}, {{"from_outside", "1"}});
    EXPECT_EQ(output.status.code, 0) << command << output.standard_error;
  }
}

/// The second step has these parameters. With a shell parameter as `extra`, it is expanded only
/// when its parent has run.
TEST(Mistakes, InTheValuesOfALaterStepAreFoundBeforeTheFirstOneRuns) {
  const Playground here;
  for (const char* extra : {"k: 1", "k: {mode: shell, _: echo 1}"})
    for (const auto& [parameter, message] : std::vector<std::pair<std::string, std::string>>{
             {"{type: int, _: [one, 2]}", "value 'one' of parameter 'n' is not an integer\n"},
             {"{mode: python, _: \"[2**i for i in rang(3)]\"}",
              "parameter 'n': NameError: name 'rang' is not defined\n"}}) {
      here.write("m.yaml", "name: m\noutpath: runs\nparameterset: {name: p, parameter: {" +
                               std::string(extra) + ", n: " + parameter +
                               "}}\nstep:\n  - {name: compile, do: touch compiled}\n"
                               "  - {name: go, depend: compile, use: p, do: echo $n}\n");
      for (const char* command : {"check", "run"}) {
        const auto output = here.bench({command, "m.yaml"});
        EXPECT_EQ(output.status.code, 1) << extra << parameter;
        EXPECT_THAT(output.standard_error, HasSubstr(": error: " + message));
        EXPECT_FALSE(here.has("runs"));
      }
    }
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
  here.write("m.yaml", with("[1]", "10 // $n"));
  EXPECT_EQ(here.bench({"run", "m.yaml"}).status.code, 0);
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
  std::string yaml = correct;
  yaml.replace(yaml.find("v=$jube_pat_int"), 15, "'v=([$number'");
  here.write("m.yaml", yaml);
  const std::string advice = "hint: once m.yaml is corrected: bench result runs --id 0 -u m.yaml\n";
  const auto run = here.bench({"run", "m.yaml", "--result"});
  EXPECT_EQ(run.status.code, 1);
  EXPECT_THAT(run.standard_error, HasSubstr(advice));
  EXPECT_THAT(here.bench({"result", "runs"}).standard_error, HasSubstr(advice));
  here.write("m.yaml", correct);
  const auto corrected = here.bench({"result", "runs", "--id", "0", "-u", "m.yaml"});
  EXPECT_EQ(corrected.status.code, 0) << corrected.standard_error;
  EXPECT_THAT(corrected.standard_output, HasSubstr("2,2,4\n"));
}

}  // namespace
}  // namespace bench::end_to_end
