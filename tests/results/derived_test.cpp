#include "results/work_directory.hpp"
#include "support/error_of.hpp"

#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/value.hpp>
#include <bench/evaluate/evaluator.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/group.hpp>

namespace bench::results {
namespace {

using enum ValueType;
using evaluate::Mode;

class DerivedTest : public WorkDirectory {
 protected:
  void SetUp() override {
    group_.parameter = parameters({{"batch", "32"}});
    model::Pattern& time = editable("time", "time=$jube_pat_fp", real);
    scan("time=2.0\ntime=4.0\n", {&time, pattern("loss", "loss=$jube_pat_fp", real)});
  }
};

TEST_F(DerivedTest, UsesParametersPatternsStatisticsAndOthers) {
  derived("per_second", "$rate * 2 + ${time_cnt}", real).unit = "1/s";
  derived("rate", "$batch / $time_avg", real);
  derived("label", "b$batch-${rate}", string, Mode::text);
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "rate"), "10.666666666666666");
  EXPECT_EQ(shown(all, "per_second"), "23.333333333333332");
  EXPECT_EQ(all.find("per_second")->second.unit, "1/s");
  EXPECT_EQ(shown(all, "label"), "b32-10.666666666666666");
}

TEST_F(DerivedTest, IsConvertedByItsType) {
  derived("half", "7/2", integer);
  derived("word", "'a'", real);
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "half"), "3");
  EXPECT_EQ(shown(all, "word"), "a");
}

TEST_F(DerivedTest, ShellKeepsItsNewline) {
  derived("said", "echo $batch", string, Mode::shell);
  EXPECT_EQ(shown(findings(), "said"), "32\n");
}

TEST_F(DerivedTest, FallsBackWhereAMatchIsMissing) {
  derived("number", "$loss * 2", real);
  derived("text", "echo loss $loss_last", string, Mode::shell);
  derived("with_default", "$loss * 2", real).default_value = "-1";
  const FoundValues all = findings();
  EXPECT_EQ(shown(all, "number"), "absent: no match in out0");
  EXPECT_EQ(shown(all, "text"), "absent: no match in out0");
  EXPECT_EQ(shown(all, "with_default"), "-1.0");
}

TEST_F(DerivedTest, FallsBackWithAWarningWhereItFails) {
  derived("bad", "1 / ($batch - 32)", real);
  Diagnostics diagnostics;
  EXPECT_EQ(shown(findings(&diagnostics), "bad"),
            "absent: evaluation failed: ZeroDivisionError: division by zero");
  ASSERT_EQ(diagnostics.warnings().size(), 1);
  EXPECT_EQ(diagnostics.warnings()[0].message.find("cannot evaluate derived pattern 'bad': "), 0)
      << diagnostics.warnings()[0].message;
  EXPECT_EQ(diagnostics.warnings()[0].place, (Place{"b.yaml", 3, 1}));
}

TEST_F(DerivedTest, ComputesWithWhatIsNotFinite) {
  derived("diverged", "float('nan')", real);
  derived("scaled", "$diverged * 2", real);
  derived("endless", "float('-inf')", real);
  derived("half", "$endless / 2", real);
  Diagnostics diagnostics;
  const FoundValues all = findings(&diagnostics);
  EXPECT_EQ(shown(all, "scaled"), "nan");
  EXPECT_EQ(shown(all, "half"), "-inf");
  EXPECT_TRUE(diagnostics.warnings().empty());
}

TEST_F(DerivedTest, SaysNothingWhereAnOperandIsMissing) {
  derived("lost", "$loss * 2", real);
  derived("scaled", "$lost * 2", real);
  derived("with_default", "$lost * 2", real).default_value = "7";
  Diagnostics diagnostics;
  const FoundValues all = findings(&diagnostics);
  EXPECT_EQ(shown(all, "scaled"), "absent: no match in out0");
  EXPECT_EQ(shown(all, "with_default"), "7.0");
  EXPECT_TRUE(diagnostics.warnings().empty());
}

TEST_F(DerivedTest, NamesBuiltFromValuesMayMeanEarlierOnes) {
  derived("v32", "5", integer);
  derived("picked", "${v$batch} + 1", integer);
  EXPECT_EQ(shown(findings(), "picked"), "6");
}

TEST_F(DerivedTest, EachGroupHasItsOwn) {
  derived("double", "$batch * 2", integer);
  Group second = group_;
  second.parameter = parameters({{"batch", "8"}});
  Group third;
  evaluate::Evaluator evaluator;
  const auto all = GroupAnalyser(evaluator).analyse({group_, second, third});
  EXPECT_EQ(shown(all[0], "double"), "64");
  EXPECT_EQ(shown(all[1], "double"), "16");
  EXPECT_EQ(shown(all[2], "double"), "(nothing)");
}

TEST_F(DerivedTest, ACycleIsAnErrorWithItsPlace) {
  derived("first", "$a");
  derived("a", "$b + 1");
  derived("b", "$a + 1");
  EXPECT_EQ(support::error_of([&] { findings(); }),
            "b.yaml:4:1: error: circular dependency of derived patterns: a -> b -> a\n"
            "hint: a derived pattern can use only patterns that are computed before it");
}

}  // namespace
}  // namespace bench::results
