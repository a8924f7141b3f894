#include "bench_program.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/process.hpp>

namespace bench::end_to_end {
namespace {

/// A benchmark, and what a run of it shows in its table or writes to a file. That XML gives the
/// same tree is tested in tests/document, and with examples.
struct Case {
  std::string name;
  std::string yaml;
  std::string expected;
  std::string file = {};  ///< In the run directory; empty: the table.
};

class LanguageTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    here_.write("a.in", "from a\n");
    here_.write("b.in", "from b\n");
    here_.write("other.yaml", "parameterset: {name: p, parameter: {name: n, _: '1,2'}}\n");
    here_.write("parts.xml",
                "<jube><parameterset name='p'><parameter name='n'>7</parameter></parameterset>"
                "<dos><do>echo v=1</do></dos></jube>\n");
  }
  Playground here_;
};

TEST_P(LanguageTest, IsThatOfJube) {
  here_.run("in.yaml", "name: b\noutpath: runs\n" + GetParam().yaml + "\n", {}, 0,
            {{"BENCH_TEST_NAME", "there"}});
  EXPECT_EQ(GetParam().file.empty() ? here_.bench({"result", "runs"}).standard_output
                                    : here_.read("runs/000000/" + GetParam().file),
            GetParam().expected);
}

/// A table with the sum of what the commands of step `s` print as `v=...`.
const std::string table_yaml =
    "\npatternset: {name: q, pattern: {name: v, type: int, _: 'v=$jube_pat_int'}}\n"
    "analyser: {name: an, use: q, analyse: {step: s, file: stdout}}\n"
    "result: {use: an, table: {name: t, style: csv, column: [v_sum, v_cnt]}}\n";
INSTANTIATE_TEST_SUITE_P(
    Rows, LanguageTest,
    testing::Values(
        Case{"IterationsThatNameTheirWorkpackageAreOneRow",
             "parameterset: {name: p, parameter: {name: log, _: log_$jube_wp_id}}\n"
             "step: {name: s, use: p, iterations: 3, do: 'echo v=$jube_wp_iteration $log'}" +
                 table_yaml,
             "v_sum,v_cnt\n3,3\n\n"},
        Case{"ActiveKnowsTheIteration",
             "step: {name: s, iterations: 3, active: $jube_wp_iteration > 0, "
             "do: 'echo v=$jube_wp_iteration'}" +
                 table_yaml,
             "v_sum,v_cnt\n3,2\n\n"},
        Case{"InitWithAndConcatJoin",
             "parameterset: {name: p, init_with: other.yaml, duplicate: concat, "
             "parameter: {name: n, _: '3'}}\n"
             "step: {name: s, use: p, do: 'echo v=$n; echo v=$n'}" +
                 table_yaml,
             "v_sum,v_cnt\n2,2\n4,2\n6,2\n\n"},
        Case{"ElementsForOthersMeanNothing",
             "parameterset: {name: p, init_with: parts.xml}\n"
             "step: {name: s, use: p, do: echo v=$n}" +
                 table_yaml,
             "v_sum,v_cnt\n7,1\n\n"},
        Case{"StepsThatTagsLeaveOutAreNotAnalysed",
             "step: [{name: s, do: echo v=4}, {name: gpu, tag: gpu, do: echo v=5}]\n"
             "patternset: {name: q, pattern: {name: v, type: int, _: 'v=$jube_pat_int'}}\n"
             "analyser: {name: an, use: q, analyse: [{step: s, file: stdout}, {step: gpu, file: "
             "stdout}]}\n"
             "result: {use: an, table: {name: t, style: csv, column: [v_sum, v_cnt]}}\n",
             "v_sum,v_cnt\n4,1\n\n"}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Files, LanguageTest,
    testing::Values(
        Case{"ChildrenFillInWhatTheirParentsDidNotKnow",
             "parameterset: [{name: p, parameter: {name: b, _: x/$a}}, "
             "{name: q, parameter: {name: a, _: A}}]\n"
             "step: [{name: one, use: p}, {name: two, depend: one, use: q, do: echo $b}]",
             "x/A\n", "000001_two/work/stdout"},
        Case{"SubstitutionsAreStripped",
             "fileset: {name: f, copy: a.in}\n"
             "substituteset: {name: u, iofile: {in: a.in, out: o}, "
             "sub: {source: ' from ', dest: 'time -p '}}\n"
             "step: {name: s, use: [f, u]}",
             "time -p a\n", "000000_s/work/o"},
        Case{"FilesAreSubstitutedInOrder",
             "fileset: {name: f, copy: 'a.in,b.in'}\n"
             "substituteset: {name: u, iofile: [{in: a.in, out: o}, {in: o, out: o}, "
             "{in: b.in, out: o, out_mode: a}], sub: {source: from, dest: from from}}\n"
             "step: {name: s, use: [f, u]}",
             "from from from from a\nfrom from b\n", "000000_s/work/o"},
        Case{"NewNamesMakeTheirDirectory",
             "fileset: {name: f, copy: {name: sub/y.txt, _: a.in}, link: {name: to/z, _: b.in}}\n"
             "step: {name: s, use: f, do: cat sub/y.txt to/z}",
             "from a\nfrom b\n", "000000_s/work/stdout"},
        Case{"TheEnvironmentIsExpandedInNamesOfFiles",
             "step: {name: s, suffix: $BENCH_TEST_NAME, do: {stdout: out_$BENCH_TEST_NAME, "
             "work_dir: in_$BENCH_TEST_NAME, done_file: $BENCH_TEST_NAME, error_file: "
             "'not_$BENCH_TEST_NAME', _: 'touch there; basename $$PWD'}}",
             "in_there\n", "000000_s_there/work/out_there"}),
    [](const auto& test) { return test.param.name; });

TEST(EvaluationOnlyTest, UpdatesARun) {
  const Playground here;
  here.write("in.yaml", "name: b\noutpath: runs\nstep: {name: s, do: echo v=4}\n");
  here.write("new.yaml", "name: b" + table_yaml);
  EXPECT_EQ(here.bench({"run", "in.yaml", "--hide-animation"}).status.code, 0);
  const auto result = here.bench({"result", "runs", "-u", "new.yaml"});
  EXPECT_EQ(result.standard_output, "v_sum,v_cnt\n4,1\n\n") << result.standard_error;
  here.write("wrong.yaml", "name: b\nanalyser: {name: an, analyse: {step: t}}\n");
  EXPECT_THAT(here.bench({"result", "runs", "-u", "wrong.yaml"}).standard_error,
              testing::HasSubstr("unknown step 't'"));
}

TEST(EvaluationOnlyTest, AStepMayBeMissing) {
  const Playground here;
  const auto run =
      here.run("in.yaml", "name: b\noutpath: runs\nstep: {name: s, tag: x, do: echo}\n",
               {"--hide-animation"});
  EXPECT_THAT(run.standard_error,
              testing::HasSubstr("warning: benchmark 'b' has no step, so nothing runs"));
  EXPECT_EQ(here.bench({"status", "runs"}).standard_output, "finished\n");
  EXPECT_EQ(here.bench({"continue", "runs", "--hide-animation"}).status.code, 0);
}

}  // namespace
}  // namespace bench::end_to_end
