#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/text.hpp>
#include <bench/insight/baseline.hpp>
#include <bench/insight/conditions.hpp>
#include <bench/insight/run_comparison.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/comparison.hpp>
#include <bench/space/metadata.hpp>

namespace bench::insight {
namespace {

using model::Better;
using numbers::Word;
using testing::ElementsAre;
using testing::IsEmpty;

std::string element(const std::string& name, const std::string& text, int line,
                    const std::string& children = "") {
  const std::string place = "[0," + std::to_string(line) + ",1]";
  return R"({"name":")" + name + R"(","text":")" + text + R"(","place":)" + place +
         R"(,"text_place":)" + place + R"(,"attributes":[],"children":[)" + children + "]}";
}

/// An input with one step and one pattern.
std::string document(const std::string& command, const std::string& pattern, int line = 1) {
  return R"({"files":["x.yaml"],"root":)" +
         element("jube", "", 0,
                 element("step", command, line) + "," + element("patternset", pattern, line + 1)) +
         "}";
}

space::RunMetadata made(const std::string& uuid) {
  space::RunMetadata metadata;
  metadata.uuid = uuid;
  metadata.benchmark = "b";
  metadata.platform = "local";
  metadata.document = document("run", "p");
  metadata.provenance = {{"host", "n1"}, {"gpu_driver", "550"}, {"environment", "OMP_X=1"}};
  return metadata;
}

std::string short_name(const space::RunMetadata& metadata) {
  return short_name_of(fingerprint_of(metadata));
}

TEST(Fingerprint, IsThatOfWhatRunsAndWhere) {
  const auto before = short_name(made("1"));
  auto other = made("2");
  other.document = document("run", "another pattern", 7);
  other.provenance["environment"] = "OMP_X=1\nSLURM_JOB_ID=7";
  other.provenance["load"] = "17.5";
  other.parallel = 1;
  other.comment = "c";
  EXPECT_EQ(short_name(other), before);
  for (const char* fact :
       {"host", "gpu_driver", "modules", "cpu", "clocks", "topology", "environment"}) {
    auto changed = made("3");
    changed.provenance[fact] = "other";
    EXPECT_NE(short_name(changed), before) << fact;
  }
  other.document = document("run faster", "p");
  EXPECT_NE(short_name(other), before);
}

/// The value of `-j`, none without; whether the step says itself how many run at a time.
struct ParallelCase {
  std::optional<long long> parallel;
  bool is_said_by_step = false;
  std::string expected;
};

TEST(Fingerprint, SaysHowManyWorkpackagesRunAtATime) {
  for (const ParallelCase& one :
       {ParallelCase{{}, false, "1"}, ParallelCase{1, false, "1"}, ParallelCase{4, true, "4"},
        ParallelCase{0, false, "16"}, ParallelCase{{}, true, "set by the steps"}}) {
    auto metadata = made("1");
    metadata.parallel = one.parallel;
    metadata.provenance["cpus_usable"] = "16";
    if (one.is_said_by_step)
      metadata.document = replace_all(
          metadata.document, R"("attributes":[])",
          R"("attributes":[{"name":"procs","value":"2","name_place":[0,1,1],"place":[0,1,1]}])");
    EXPECT_EQ(fingerprint_of(metadata).at("parallel"), one.expected);
  }
}

TEST(Fingerprint, OfAClusterHasNoHost) {
  auto a = made("1");
  a.platform = "slurm";
  auto b = a;
  b.provenance["host"] = "login02";
  EXPECT_EQ(fingerprint_of(a), fingerprint_of(b));
}

class BaselineTest : public testing::Test {
 protected:
  void add(int id, bool accepted, const std::string& driver = "550") {
    auto metadata = made(std::to_string(id));
    metadata.provenance["gpu_driver"] = driver;
    metadata.accepted = accepted ? "2026-01-31 13:05:09" : "";
    runs_.push_back({{id, ""}, metadata});
  }
  std::vector<int> ids(const BaselineOptions& options) const {
    std::vector<int> ids;
    for (const auto& run : baseline_of(made("9"), runs_, options).runs)
      ids.push_back(run.id);
    return ids;
  }
  std::vector<KnownRun> runs_;
};

TEST_F(BaselineTest, HasTheLastAcceptedRunsOfTheSameFingerprint) {
  add(1, true);
  add(2, true);
  add(3, true, "535");
  add(4, false);
  add(5, true);
  add(9, true);  // the checked run itself
  EXPECT_THAT(ids({}), ElementsAre(1, 2, 5));
  EXPECT_THAT(ids({.last = 2, .across = {}}), ElementsAre(2, 5));
  EXPECT_THAT(ids({.last = 5, .across = {"gpu_driver"}}), ElementsAre(1, 2, 3, 5));
}

TEST_F(BaselineTest, SaysWhatDiffersFromTheNearestRun) {
  add(1, true, "535");
  add(2, true, "540");
  runs_.back().metadata.provenance["cpu"] = "new";
  const Baseline baseline = baseline_of(made("9"), runs_, {});
  EXPECT_THAT(baseline.runs, IsEmpty());
  EXPECT_EQ(baseline.accepted, 2U);
  EXPECT_EQ(baseline.nearest.id, 1);
  ASSERT_EQ(baseline.differences.size(), 1U);
  EXPECT_EQ(baseline.differences[0].name, "gpu_driver");
  EXPECT_EQ(baseline.differences[0].a, "550");
  EXPECT_EQ(baseline.differences[0].b, "535");
}

ComparedPoint point(Word word, double low, double high,
                    std::optional<Better> better = Better::lower) {
  ComparedPoint made;
  made.better = better;
  made.comparison.interval = {low, high};
  made.verdict.word = word;
  return made;
}

CheckOutcome outcome(const std::vector<ComparedPoint>& points) {
  RunComparison comparison;
  comparison.points = points;
  return check_of(comparison, 0.01).outcome;
}

TEST(BaselineCheckTest, PassesOnlyWhatExcludesALoss) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto passed = CheckOutcome::passed;
  const auto undecided = CheckOutcome::undecided;
  EXPECT_EQ(outcome({point(Word::equal, -0.005, 0.005)}), passed);
  EXPECT_EQ(outcome({point(Word::lower, -0.08, -0.05)}), passed);
  EXPECT_EQ(outcome({point(Word::too_few_runs, -0.03, 0.009)}), passed);
  EXPECT_EQ(outcome({point(Word::too_few_runs, -0.009, 0.03, Better::higher)}), passed);
  EXPECT_EQ(outcome({point(Word::too_few_runs, -0.03, 0.02)}), undecided);
  EXPECT_EQ(outcome({point(Word::too_few_runs, -0.02, 0.005, Better::higher)}), undecided);
  EXPECT_EQ(outcome({point(Word::no_evidence, 0.02, 0.04)}), undecided);
  EXPECT_EQ(outcome({point(Word::too_few_runs, -infinity, infinity)}), undecided);
  EXPECT_EQ(outcome({point(Word::equal, 0, 0), point(Word::no_evidence, 0.02, 0.04)}), undecided);
}

TEST(BaselineCheckTest, FailsByOneRegression) {
  EXPECT_EQ(outcome({point(Word::equal, 0, 0), point(Word::higher, 0.02, 0.04)}),
            CheckOutcome::failed);
  EXPECT_EQ(outcome({point(Word::lower, -0.04, -0.02, Better::higher)}), CheckOutcome::failed);
}

TEST(BaselineCheckTest, CannotTellWithoutAValueOrADirection) {
  EXPECT_EQ(outcome({}), CheckOutcome::undecided);
  EXPECT_EQ(outcome({point(Word::higher, 0.02, 0.04, std::nullopt)}), CheckOutcome::undecided);
  ComparedPoint absent = point(Word::too_few_runs, 0, 0);
  absent.comparison.absent_reason = "no value";
  EXPECT_EQ(outcome({absent}), CheckOutcome::undecided);
}

TEST(BaselineCheckTest, ValuesThatAreNoLongerFiniteFailWhicheverAreBetter) {
  ComparedPoint diverged = point(Word::not_finite, 0, 0, std::nullopt);
  diverged.comparison.absent_reason = "some values are nan or infinite";
  diverged.comparison.not_finite_b = 1;
  EXPECT_EQ(outcome({point(Word::equal, 0, 0), diverged}), CheckOutcome::failed);
  diverged.better = Better::higher;
  EXPECT_EQ(outcome({diverged}), CheckOutcome::failed);
  diverged.comparison.not_finite_a = 1;  // as the baseline's
  EXPECT_EQ(outcome({point(Word::equal, 0, 0), diverged}), CheckOutcome::undecided);
}

TEST(BaselineCheckTest, CannotTellWhereValuesAreMissingThatTheBaselineHas) {
  ComparedPoint incomplete = point(Word::equal, 0, 0);
  incomplete.without_value_b = 1;
  EXPECT_EQ(outcome({point(Word::equal, 0, 0), incomplete}), CheckOutcome::undecided);
  incomplete.without_value_a = 1;
  EXPECT_EQ(outcome({incomplete}), CheckOutcome::passed);
}

TEST(BaselineCheckTest, CannotTellWhereAMetricIsMissingThatTheBaselineHas) {
  RunComparison comparison;
  comparison.points = {point(Word::equal, 0, 0)};
  comparison.lone_metrics = {{.name = "new", .in_a = false, .better = Better::lower},
                             {.name = "of_no_direction", .in_a = true, .better = {}}};
  EXPECT_EQ(check_of(comparison, 0.01).outcome, CheckOutcome::passed);
  comparison.lone_metrics.push_back({.name = "rate", .in_a = true, .better = Better::higher});
  EXPECT_EQ(check_of(comparison, 0.01).outcome, CheckOutcome::undecided);
}

TEST(BaselineCheckTest, APointThatFailuresTookFails) {
  RunComparison comparison;
  comparison.points = {point(Word::equal, 0, 0)};
  comparison.lone = {{.step = "s", .parameters = {}, .in_a = true, .workpackages = 1}};
  EXPECT_EQ(check_of(comparison, 0.01).outcome, CheckOutcome::passed);
  comparison.not_done_b = 1;
  EXPECT_EQ(check_of(comparison, 0.01).outcome, CheckOutcome::failed);
}

}  // namespace
}  // namespace bench::insight
