#include "model/fixture.hpp"

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {
namespace {

Step step_of(const std::string& settings) {
  return benchmark_of("step: {name: s, " + settings + "}\n").steps.at(0);
}

TEST(Steps, ReadWhereAndHowOftenTheyRun) {
  const Step step = step_of(
      "cycles: 3, work_dir: ' d/$n ', suffix: $n, shared: all, export: true, do_log_file: a/log");
  EXPECT_EQ(step.cycles, 3);
  EXPECT_EQ(step.work_dir, "d/$n");
  EXPECT_EQ(step.suffix, "$n");
  EXPECT_EQ(step.shared, "all");
  EXPECT_TRUE(step.exported);
  EXPECT_EQ(step.do_log_file, "a/log");
}

TEST(Steps, LogToDoLogWhereTheyAreTold) {
  EXPECT_EQ(step_of("do_log_file: true").do_log_file, "do_log");
  EXPECT_EQ(step_of("do_log_file: false").do_log_file, "");
  EXPECT_EQ(step_of("do_log_file: None").do_log_file, "");
  EXPECT_EQ(step_of("do: echo").do_log_file, "");
}

TEST(Steps, GoToTheBatchSystemAsArraysUnlessToldOtherwise) {
  EXPECT_TRUE(step_of("batch: true").batch->array);
  EXPECT_FALSE(step_of("batch: true").batch->may_pack());
  const Step step = step_of("batch: {array: false, pack: $n}");
  EXPECT_FALSE(step.batch->array);
  EXPECT_EQ(step.batch->pack, "$n");
}

TEST(Commands, ReadTheFilesTheyWaitFor) {
  const Command command =
      step_of("do: {work_dir: d, done_file: $f, error_file: e, break_file: b, _: ''}")
          .commands.at(0);
  EXPECT_EQ(command.text, "");
  EXPECT_EQ(command.work_dir, "d");
  EXPECT_EQ(command.done_file, "$f");
  EXPECT_EQ(command.error_file, "e");
  EXPECT_EQ(command.break_file, "b");
}

class SharedTest : public testing::TestWithParam<std::pair<std::string, bool>> {};

TEST_P(SharedTest, IsTrueOrFalseInAnyCase) {
  const Step step = step_of("shared: all, do: {shared: " + GetParam().first + ", _: echo}");
  EXPECT_EQ(step.commands.at(0).shared, GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(Words, SharedTest,
                         testing::Values(std::pair{"true", true}, std::pair{"'true'", true},
                                         std::pair{"TRUE", true}, std::pair{"false", false},
                                         std::pair{"'False'", false}));

struct Truth {
  std::string name;
  std::string yaml;
  std::string expected;
};
void PrintTo(const Truth& t, std::ostream* out) {
  *out << t.name;
}

class TruthTest : public testing::TestWithParam<Truth> {};

TEST_P(TruthTest, IsTrueOrFalseAndNoOtherWord) {
  EXPECT_EQ(fault_in(GetParam().yaml), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Words, TruthTest,
    testing::Values(
        Truth{"PerNode", "step: {name: s, batch: true, energy: {per_node: perhaps}}\n",
              "in.yaml:1:49: invalid-value"},
        Truth{"PerNodeOfAParameter", "step: {name: s, batch: true, energy: {per_node: $p}}\n",
              "in.yaml:1:49: invalid-value"},
        Truth{"Array", "step: {name: s, batch: {array: 1}}\n", "in.yaml:1:32: invalid-value"},
        Truth{"Export", "step: {name: s, export: treu}\n", "in.yaml:1:25: invalid-value"},
        Truth{"ExportOfAParameter",
              "parameterset: {name: p, parameter: {name: a, export: all, _: 1}}\nstep: {name: s}\n",
              "in.yaml:1:54: invalid-value"},
        Truth{"YamlsOwnWord", "step: {name: s, export: 'TRUE', batch: {array: no}}\n",
              "(no error)"}),
    [](const auto& one) { return one.param.name; });

TEST(Commands, AreSharedInASharedDirectoryOnly) {
  EXPECT_EQ(fault_in("step: {name: s, do: {shared: true, _: echo}}\n"), "in.yaml:1:39: conflict");
  EXPECT_EQ(fault_in("step: {name: s, shared: d, procs: 2, do: {shared: true, _: echo}}\n"),
            "in.yaml:1:60: conflict");
  EXPECT_EQ(fault_in("step: {name: s, shared: d, procs: 1, do: {shared: true, _: echo}}\n"),
            "(no error)");
}

TEST(Batch, HasEitherTheSameNodesOrNamedOnes) {
  EXPECT_EQ(fault_in("step: {name: s, batch: {nodelist: n1, same_nodes: true}, do: x}\n"),
            "in.yaml:1:51: no-effect");
}

TEST(Parameters, ReadTheirModes) {
  const auto set = *benchmark_of(
                        "parameterset:\n  name: p\n  parameter:\n"
                        "    - {name: a, mode: tag, update_mode: always, _: fast}\n"
                        "    - {name: b, selection: ' 2 ', mode: python, _: '1,2'}\n"
                        "step: {name: s, use: p}\n")
                        .parameter_set("p");
  EXPECT_EQ(set.parameters.at(0).mode, evaluate::Mode::tag);
  EXPECT_EQ(set.parameters.at(0).update_mode, UpdateMode::always);
  EXPECT_EQ(set.parameters.at(1).values, std::vector<std::string>{"2"});
  EXPECT_EQ(set.parameters.at(1).mode, evaluate::Mode::text);
}

}  // namespace
}  // namespace bench::model
