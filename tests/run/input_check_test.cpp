// What is said of an input file before anything of it runs.
#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/run/cost.hpp>
#include <bench/run/input_check.hpp>
#include <bench/run/make_run.hpp>
#include <bench/run/preview.hpp>
#include <bench/space/input.hpp>
#include <bench/space/run.hpp>

namespace bench::run {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// How a file is checked: as `bench check` does, or as `bench run` does until its run is made; and
/// which of their options it has.
struct Way {
  bool makes_run = false;
  bool strict = false;
  bool lenient = false;
  std::string platform = {};
  std::string budget = {};
};
const Way as_check{};
const Way as_run{.makes_run = true};
const Way as_strict_check{.strict = true};
const Way as_strict_run{.makes_run = true, .strict = true};

class InputCheckTest : public testing::Test {
 protected:
  /// The warnings and the error, or `(no error)`; names of files without their directory.
  std::string said_of(const std::string& file, const Way& way = as_check) const {
    std::string warnings;
    Diagnostics diagnostics(
        way.strict,
        [&](const Warning& warning) {
          warnings +=
              render(Severity::warning, warning.message, warning.hint, warning.place) + "\n";
        },
        !way.lenient);
    const std::string error = support::error_of([&] {
      const std::filesystem::path path(file);
      const space::Request request{.input_file = path.is_absolute() ? path : here_.path() / path,
                                   .platform = way.platform,
                                   .budget = way.budget};
      const space::Input input = space::read_input(request, diagnostics);
      check_input(input, diagnostics);
      for (const model::Benchmark& benchmark : input.benchmarks) {
        space::Run planned = space::plan_run(input, benchmark, request);
        std::vector<std::string> notices;
        if (way.makes_run)
          make_run(planned, request, diagnostics, notices);
        else
          check_budget(planned, costs_of(planned, preview(planned, diagnostics, notices)));
      }
    });
    return replace_all(warnings + error + "\n", here_.path().string() + "/", "");
  }
  std::string said(const std::string& text, const Way& way = as_check) const {
    here_.write("m.yaml", text);
    return said_of("m.yaml", way);
  }
  bool has_runs() const { return std::filesystem::exists(here_.path() / "runs"); }

  support::EnvironmentVariable data_{"BENCH_DATA", std::nullopt};
  support::TempDirectory here_;
};

constexpr const char* correct_input = R"(name: m
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

/// The file above with a text in it replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = correct_input;
  return text.replace(text.find(from), from.size(), to);
}

struct InputCase {
  std::string name;
  std::string text;
  std::string message;
};

class InputMistakeTest : public InputCheckTest, public testing::WithParamInterface<InputCase> {};

TEST_P(InputMistakeTest, IsAnErrorAndMakesNothing) {
  for (const Way& way : {as_check, as_run}) {
    EXPECT_THAT(
        said(GetParam().text, way),
        AllOf(StartsWith("m.yaml:"), HasSubstr(GetParam().message), Not(HasSubstr("(no error)"))));
    EXPECT_FALSE(has_runs());
  }
}

/// The second step has these parameters. With a shell parameter as `extra`, it is expanded only
/// when its parent has run.
std::string later_step(const std::string& extra, const std::string& n) {
  return "name: m\noutpath: runs\nparameterset: {name: p, parameter: {" + extra + ", n: " + n +
         "}}\nstep:\n  - {name: compile, do: touch compiled}\n"
         "  - {name: go, depend: compile, use: p, do: echo $n}\n";
}
const std::string shell_parameter = "k: {mode: shell, _: echo 1}";
const std::string no_integer = "{type: int, _: [one, 2]}";
const std::string misspelt = "{mode: python, _: \"[2**i for i in rang(3)]\"}";
const std::string open_quote = "name: a\noutpath: runs\nstep: {name: s, do: ";

INSTANTIATE_TEST_SUITE_P(
    Input, InputMistakeTest,
    testing::Values(
        InputCase{"RegularExpression", changed("v=$jube_pat_int", "'v=(['"), "error: "},
        InputCase{"PredefinedPattern", changed("$jube_pat_int", "$jube_pat_float"),
                  "which is no predefined pattern\n"},
        InputCase{"Format", changed("format: d", "format: .2d"),
                  "error: format '.2d': a precision"},
        InputCase{"FormatOfC", changed("format: d", "format: '%.2f'"),
                  "error: format '%.2f' is invalid"},
        InputCase{"DerivedPattern", changed("2 * $value", "2 * $valeu"),
                  "error: pattern 'twice' uses 'valeu', which is not a parameter or pattern\n"},
        InputCase{
            "Where", changed("$number > 0", "$nmber > 0"),
            "error: `where` of step 's' uses 'nmber', which is not a parameter of the step\n"},
        InputCase{
            "Active", changed("$number < 9", "$numbr < 9"),
            "error: `active` of step 's' uses 'numbr', which is not a parameter of the step\n"},
        InputCase{
            "Filter", changed("twice]}", "twice], filter: $nubmer > 1}"),
            "error: the filter of table 't' uses 'nubmer', which is not a parameter or pattern "
            "of this result\n"},
        InputCase{"Key", changed("step: {name: s", "step: {name: s, iteration: 3"),
                  "error: unknown key 'iteration' in step 's'\n"},
        InputCase{"KeyWithoutANearOne", changed("step: {name: s", "step: {name: s, colour: 3"),
                  "error: unknown key 'colour' in step 's'\n"},
        InputCase{"Batch", changed("step: {name: s", "step: {name: s, batch: {time: 5m}"),
                  "hint: did you mean 'time_limit'?\n"},
        InputCase{"Command", changed("echo v=$number", "echo v=$number$numbr"),
                  "error: a command of step 's' uses 'numbr', which is not a parameter\n"},
        InputCase{"Column", changed("[number,", "[numbr,"),
                  "error: column 'numbr' is not a parameter or pattern of this result\n"},
        InputCase{"FilterInQuotes", changed("twice]}", "twice], filter: \"'$numbr' != '1'\"}"),
                  "error: the filter of table 't' uses 'numbr'"},
        InputCase{"InQuotes", changed("$number < 9", "\"'$numbr' != 'gpu'\""),
                  "error: `active` of step 's' uses 'numbr'"},
        InputCase{"Type", changed("type: int, _: v", "type: integer, _: v"),
                  "error: unknown type 'integer': the values of 'value' are treated as strings\n"},
        InputCase{"EmptyList",
                  changed("parameter: {number: [1, 2]}",
                          "parameter: [{number: [1, 2]}, {name: more, _: []}]"),
                  "error: parameter 'more' has an empty list\n"},
        InputCase{"TimeLimit", changed("step: {name: s", "step: {name: s, batch: {time_limit: 5}"),
                  "error: time_limit '5' has no unit\n"},
        InputCase{"TimeLimitOfAParameter",
                  changed("step: {name: s", "step: {name: s, batch: {time_limit: $number}"),
                  "error: time_limit '1' has no unit"},
        InputCase{"Size", changed("step: {name: s", "step: {name: s, batch: {nodes: x$number}"),
                  "error: nodes of step 's' must be an integer of at least 1: x1\n"},
        InputCase{"Sort", changed("twice]}", "twice], sort: valeu}"),
                  "error: table 't' is sorted by 'valeu', which is not a parameter or pattern of "
                  "this result\n"},
        InputCase{"Mean", changed("{format: d, _: value}", "value_mean"),
                  "hint: did you mean 'value_avg'?\n"},
        InputCase{"Source",
                  changed("copy: m.yaml}\nstep: {",
                          "copy: n.yaml}\nstep:\n  - {name: first, use: f, do: 'true'}\n  - {"),
                  "error: no file matches 'n.yaml'\n"},
        InputCase{"LengthOfTimeOfTheMeter",
                  "name: m\nstep: {name: s, batch: true, energy: {baseline: 5}, do: a}\n",
                  "m.yaml:2:49: error: baseline is a number with a unit, not '5'"},
        InputCase{"MethodOfTheMeter",
                  "name: m\nstep: {name: s, batch: true, energy: {methods: nvm}, do: a}\n",
                  "m.yaml:2:48: error: unknown method 'nvm'\n"},
        InputCase{"IntegerOfALaterStep", later_step("k: 1", no_integer),
                  ": error: value 'one' of parameter 'n' is not an integer\n"},
        InputCase{"IntegerOfALateStep", later_step(shell_parameter, no_integer),
                  ": error: value 'one' of parameter 'n' is not an integer\n"},
        InputCase{"ScriptOfALaterStep", later_step("k: 1", misspelt),
                  ": error: parameter 'n': NameError: name 'rang' is not defined\n"},
        InputCase{"ScriptOfALateStep", later_step(shell_parameter, misspelt),
                  ": error: parameter 'n': NameError: name 'rang' is not defined\n"},
        InputCase{"WhereThatDropsEverything",
                  "name: a\noutpath: runs\nparameterset: {name: p, parameter: {n: [1, 2]}}\n"
                  "step: {name: s, use: p, where: $n > 2, do: echo}\n",
                  "m.yaml:4:7: error: `where` of step 's' drops all 2 combinations, so that there "
                  "is nothing to run\n"},
        InputCase{"OpenQuote", open_quote + "'echo}\n", "quote"},
        InputCase{"OpenDoubleQuote", open_quote + "\"echo}\n", "quote"},
        InputCase{"QuoteInQuotes", open_quote + "'it's'}\n", "quote"},
        InputCase{"UnknownSet", "name: typo\noutpath: runs\nstep: {name: s, use: swep, do: echo}\n",
                  "m.yaml:3:22: error: unknown parameter, file or substitute set 'swep'\n"}),
    [](const auto& one) { return one.param.name; });

/// What the shell, or a row, may know all the same, and what JUBE accepts in silence.
class InputDoubtTest : public InputCheckTest, public testing::WithParamInterface<InputCase> {};

TEST_P(InputDoubtTest, IsAWarningAndWithStrictAnError) {
  EXPECT_THAT(said(GetParam().text), AllOf(HasSubstr(GetParam().message), HasSubstr("(no error)")));
  EXPECT_THAT(said(GetParam().text, as_run), HasSubstr("(no error)"));
  EXPECT_THAT(said(GetParam().text, as_strict_check), Not(HasSubstr("(no error)")));
}

const std::string heading = "name: a\noutpath: runs\n";
const std::string step_of_p = "step: {name: s, use: p, do: 'echo v=1'}\n";
const std::string with_analyser =
    heading + "parameterset: {name: p, parameter: {n: 1}}\n" + step_of_p +
    "patternset: {name: q, pattern: {name: value, type: int, _: v=$jube_pat_int}}\n"
    "analyser: {name: x, use: q, analyse: {step: s, file: stdout}}\n";

INSTANTIATE_TEST_SUITE_P(
    Input, InputDoubtTest,
    testing::Values(
        InputCase{"Command", changed("echo v=$number", "echo v=$number$nthr"),
                  "warning: a command of step 's' uses 'nthr', which is not a parameter\n"},
        InputCase{"Comment", changed("do: 'echo v=$number'}", "do: echo v=$number # b; ./x\n  }"),
                  "warning: '# b; ./x' is a comment in YAML\n"},
        InputCase{"JobScript",
                  changed("do: 'echo v=$number'", "batch: true, do: 'echo v=$number in $folder'"),
                  "warning: a command of step 's' uses 'folder', which is not a parameter\n"},
        InputCase{
            "Substitution",
            changed("step: {name: s, use: [p, f]",
                    "substituteset:\n  name: r\n  iofile: {in: m.yaml, out: job}\n"
                    "  sub: {source: '#RUN#', dest: 'python3 ${folder}/train.py'}\n"
                    "step: {name: s, use: [p, f, r]"),
            "warning: the substitution for '#RUN#' uses 'folder', which is not a parameter of "
            "step 's'\n"},
        InputCase{"Column", changed("[number,", "[other,"),
                  "warning: column 'other' is not a parameter or pattern of this result\n"},
        InputCase{"MaxAsync", changed("step: {name: s", "step: {name: s, max_async: $number"),
                  "warning: max_async of step 's' differs between its workpackages\n"},
        InputCase{"FilterSyntax", changed("twice]}", "twice], filter: $number >}"),
                  "warning: invalid expression in the filter of table 't': SyntaxError"},
        InputCase{"FilterStatement", changed("twice]}", "twice], filter: import os}"),
                  "warning: invalid expression in the filter of table 't': SyntaxError"},
        InputCase{"FilterInQuotes", changed("twice]}", "twice], filter: \"'$other' != '1'\"}"),
                  "warning: the filter of table 't' uses 'other'"},
        InputCase{"InQuotes", changed("$number < 9", "\"'$other' != 'gpu'\""),
                  "warning: `active` of step 's' uses 'other'"},
        InputCase{"LoopVariable",
                  changed("echo v=$number", "for number in 4 5; do echo v=$number; done"),
                  "warning: the shell variable 'number' has the name of a parameter"},
        InputCase{"UnknownType",
                  heading + "parameterset: {name: p, parameter: {name: n, type: integer, _: 1}}\n" +
                      step_of_p,
                  "warning: unknown type 'integer': the values of 'n' are treated as strings\n"},
        InputCase{
            "TagOperator",
            heading +
                "parameterset: {name: p, parameter: [{name: n, _: 1}, {name: m, tag: a && b, _: "
                "2}]}\n" +
                step_of_p,
            "warning: tag expression 'a && b' asks for the tag 'a&&b'\n"},
        InputCase{
            "DefinedTwice",
            heading + "parameterset: {name: p, parameter: [{name: n, _: 1}, {name: n, _: 2}]}\n" +
                step_of_p,
            "warning: parameter 'n' is defined twice in parameter set 'p'; this one counts\n"},
        InputCase{"NoValue",
                  heading + "parameterset: {name: p, parameter: {name: n}}\n" + step_of_p,
                  "warning: parameter 'n' has no value\n"},
        InputCase{"NoColumn", with_analyser + "result: {use: x, table: {name: t, column: []}}\n",
                  "warning: table 't' has no column\n"},
        InputCase{
            "SortByAnUnknown",
            with_analyser + "result: {use: x, table: {name: t, sort: other, column: value}}\n",
            "warning: table 't' is sorted by 'other', which is not a parameter or pattern of "
            "this result\n"},
        InputCase{"Umlaut",
                  heading + "parameterset: {name: p, parameter: {name: größe, _: 1}}\n" + step_of_p,
                  "warning: $größe does not insert the parameter 'größe'\n"},
        InputCase{"UmlautOfTheShell",
                  heading + "parameterset: {name: p, parameter: {n: 1}}\n"
                            "step: {name: s, use: p, do: 'echo $größe'}\n",
                  "warning: '$größe' in a command of step 's' is not a valid shell variable\n"}),
    [](const auto& one) { return one.param.name; });

TEST_F(InputCheckTest, ACorrectFileIsNotDoubted) {
  for (const char* filter :
       {"", ", filter: $value < 9 and $jube_wp_id >= 0",
        ", filter: '\"$number\" in (\"1\", $value_avg)'", ", filter: '$number$number.5 > 1'"})
    EXPECT_EQ(said(changed("twice]", std::string("twice]") + filter), as_strict_check),
              "(no error)\n")
        << filter;
}

TEST_F(InputCheckTest, WhatIsSaidToBeMeantIsNotDoubted) {
  EXPECT_EQ(said(heading +
                     "parameterset: {name: p, duplicate: replace, parameter: [{name: n, _: 1}, "
                     "{name: n, _: 2}, {name: e, _: ''}]}\n" +
                     step_of_p,
                 as_strict_check),
            "(no error)\n");
}

// The set is missing because its keyword is misspelt: the warning explains the error.
TEST_F(InputCheckTest, WarningsComeBeforeTheErrorThatFollows) {
  EXPECT_THAT(said(heading + "paramterset: {name: p, parameter: {name: n, _: 1}}\n" + step_of_p),
              AllOf(StartsWith("m.yaml:3:1: warning: unknown key 'paramterset' in benchmark 'a'"),
                    HasSubstr("hint: did you mean 'parameterset'?\nm.yaml:4:22: error: unknown ")));
}

TEST_F(InputCheckTest, MistakesOfAnXmlFileForBenchAreErrors) {
  for (const auto& [attribute, said_at_the_end] : std::vector<std::pair<std::string, std::string>>{
           {"", "(no error)"}, {" where=\"true\"", "error: "}}) {
    here_.write("m.xml",
                "<jube><benchmark name=\"m\" outpath=\"runs\"><step name=\"s\" iteration=\"3\"" +
                    attribute + "><do>true</do></step></benchmark></jube>\n");
    EXPECT_THAT(said_of("m.xml"),
                AllOf(HasSubstr("unknown attribute 'iteration'"), HasSubstr(said_at_the_end)));
  }
}

/// No shell reads these, so that an unknown name would become a part of the file's name.
TEST_F(InputCheckTest, AnUnknownNameInThatOfAFileIsADoubt) {
  here_.write("in", "");
  const std::string text = said(R"(name: m
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
)",
                                {.lenient = true});
  for (const char* what :
       {"'copy$nodes' of file set 'f' uses 'nodes'", "`stdout` of a command uses 'nodes'",
        "a command of step 's' uses 'nodes'", "'made$nodes' of substitute set 'r' uses 'nodes'",
        "`use` uses 'nodes'", "`shared` uses 'nodes'", "`do_log_file` uses 'nodes'",
        "`done_file` of a command uses 'nodes'", "`error_file` of a command uses 'nodes'",
        "`break_file` of a command uses 'nodes'", "`stderr` of a command uses 'TASK'",
        "`file` of analyser 'a' uses 'nodes'"})
    EXPECT_THAT(text, HasSubstr(what));
  EXPECT_THAT(text, HasSubstr("m.yaml:12:84: warning: `done_file` of a command uses 'nodes', which "
                              "is not a parameter of step 's'\n"));
  EXPECT_THAT(text, HasSubstr("hint: did you mean 'node'?\n"));
  EXPECT_THAT(text, Not(HasSubstr("m.yaml:14")));
}

TEST_F(InputCheckTest, ASourceOfAStepThatNeverRunsIsNotMissed) {
  const std::string text = heading +
                           "fileset: {name: f, copy: missing}\n"
                           "step:\n  - {name: a, use: f, active: 'false', do: 'false'}\n"
                           "  - {name: b, do: 'echo b'}\n";
  for (const Way& way : {as_check, as_run})
    EXPECT_EQ(said(text, way), "(no error)\n");
}

TEST_F(InputCheckTest, ASourceThatMayBeMadeOrMayNotBeNeededIsADoubt) {
  for (const auto& [source, steps] : std::vector<std::pair<std::string, std::string>>{
           {"made",
            "parameterset: {name: p, parameter: {name: g, mode: shell, _: 'echo may make it'}}\n"
            "step: {name: a, use: [p, f], do: 'test -e made'}\n"},
           {"made",
            "parameterset: {name: p, parameter: {needed: false}}\n"
            "step:\n  - {name: a, use: [p, f], active: $needed, do: 'true'}\n"
            "  - {name: b, do: 'true'}\n"},
           {"runs/made",
            "step:\n  - {name: make, do: 'touch ../../../made'}\n"
            "  - {name: take, depend: make, use: f, do: 'test -e made'}\n"}})
    EXPECT_THAT(
        said(heading + "fileset: {name: f, copy: " + source + "}\n" + steps, as_run),
        AllOf(HasSubstr("warning: no file matches '" + source + "'\n"), HasSubstr("(no error)")));
}

TEST_F(InputCheckTest, NamesThatTheShellMayHaveAreNotDoubted) {
  const support::EnvironmentVariable outside("from_outside", "1");
  for (const char* command :
       {"echo $from_outside", "echo ''$x'' | awk '{print $field}'", ". ./env.sh; echo $nthr",
        "nthr=3; echo $nthr", "echo $SCRATCH", "eval $(env); echo $nthr"})
    EXPECT_EQ(said(heading +
                       "parameterset: {name: p, parameter: {x: 1}}\nstep: {name: s, use: p, do: "
                       "\"" +
                       command + "\"}\n",
                   as_strict_check),
              "(no error)\n")
        << command;
}

TEST_F(InputCheckTest, OnlyRegularFilesAreTaken) {
  ASSERT_EQ(::mkfifo((here_.path() / "pipe").c_str(), 0666), 0);
  here_.write("include.yaml", "name: i\noutpath: runs\nstep: !include pipe\n");
  here_.write("include.xml", "<jube><include from=\"pipe\"/></jube>");
  here_.write("init.yaml",
              "name: i\noutpath: runs\nparameterset: {name: p, init_with: /dev/zero}\n"
              "step: {name: s, use: p, do: echo}\n");
  for (const char* file : {"pipe", "/dev/zero", "include.yaml", "include.xml", "init.yaml"})
    EXPECT_THAT(said_of(file), HasSubstr("it is not a regular file")) << file;
}

/// A budget, and why a run is refused for it.
struct RefusedBudget {
  std::string budget;
  std::string platform;
  std::string error;
};

TEST_F(InputCheckTest, ABudgetIsHeldAgainstWhatJobsMayTake) {
  // 7 nodes for an hour, which a retry may double once; 10 workpackages in 3 jobs for half an hour.
  const std::string jobs = heading + R"(parameterset:
  - {name: sizes, parameter: {nodes: [1, 2, 4]}}
  - {name: many, parameter: {name: m, _: "1,2,3,4,5,6,7,8,9,10"}}
step:
  - name: train
    use: sizes
    batch: {nodes: $nodes, time_limit: 1h}
    retry: {on: timeout, times: 1, timelimit_factor: 2}
    do: echo train
  - {name: small, use: many, batch: {pack: 4, time_limit: 30min}, do: echo small}
)";
  EXPECT_EQ(said(jobs, {.platform = "slurm", .budget = "22.5nh"}), "(no error)\n");
  for (const RefusedBudget& one :
       {RefusedBudget{"22nh", "slurm",
                      "error: the run may take 22.50 node hours, and its budget is 22.00: train "
                      "21.00 (3 jobs), small 1.50 (3 jobs)\nhint: `bench run -n` shows how"},
        {"22", "slurm",
         "error: invalid budget '22'\nhint: use node hours, core hours or GPU hours: 50nh, 3200ch, "
         "200gh\n"},
        {"22ch", "slurm", "error: platform slurm has no confirmed `cores_per_node`"},
        {"22nh", "local", "error: platform local has no batch system"}})
    EXPECT_THAT(said(jobs, {.platform = one.platform, .budget = one.budget}),
                StartsWith(one.error));
  EXPECT_THAT(said(heading + "step: {name: s, batch: {nodes: 2}, do: echo}\n",
                   {.platform = "slurm", .budget = "22nh"}),
              StartsWith("m.yaml:3:24: error: the jobs of step 's' have no time limit, so they "
                         "cannot be held against the budget\n"));
}

/// How a parameter of type int is written whose first value is 0.5; `n` is 1, 2 or 3.
class FractionTest : public InputCheckTest, public testing::WithParamInterface<InputCase> {};

TEST_P(FractionTest, IsWarnedOfOnceBeforeTheRunIsMade) {
  const std::string text =
      heading +
      "parameterset:\n"
      "  - {name: first, parameter: [{n: [1, 2, 3]}, {name: real, type: float, mode: python, _: "
      "$n / 2}]}\n"
      "  - name: second\n    parameter:\n      - {name: half, type: int, " +
      GetParam().text + "}\nstep: {name: a, use: [first, second], do: echo $half}\n";
  for (const Way& way : {as_check, as_run}) {
    const std::string warned = said(text, way);
    EXPECT_EQ(split(warned, "warning: parameter 'half' has type int").size(), 2U) << warned;
    EXPECT_THAT(warned,
                AllOf(ContainsRegex("m.yaml:7:[0-9]+: warning: parameter 'half' has type "
                                    "int and its value is '0.5'\n"),
                      HasSubstr("hint: tables show 0; use type float"), HasSubstr("(no error)")));
  }
  std::filesystem::remove_all(here_.path() / "runs");
  EXPECT_THAT(said(text, as_strict_run), HasSubstr("error: parameter 'half' has type int"));
  EXPECT_FALSE(has_runs());
}

INSTANTIATE_TEST_SUITE_P(
    Modes, FractionTest,
    testing::Values(InputCase{"Python", "mode: python, _: $n / 2", {}},
                    InputCase{"Shell", "mode: shell, _: \"echo $n | awk '{print $1 / 2}'\"", {}},
                    InputCase{"AnotherParameter", "_: $real", {}},
                    InputCase{"LateValue", "mode: python, _: ($jube_wp_id + 1) / 2", {}}),
    [](const auto& one) { return one.param.name; });

TEST_F(InputCheckTest, WholeNumbersAreNoFractions) {
  EXPECT_EQ(
      said(heading + "parameterset: {name: p, parameter: [{n: [1, 2]}, {name: one, type: int, "
                     "mode: python, _: $n / 1}, {name: big, type: int, mode: python, _: 1e20 * "
                     "$n}]}\nstep: {name: s, use: p, do: echo $one $big}\n",
           as_strict_run),
      "(no error)\n");
}

}  // namespace
}  // namespace bench::run
