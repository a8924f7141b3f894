#include "run/pruner.hpp"

#include "run/store_fixture.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using workspace::State;

/// Runs a step on a machine where some workpackages do not fit.
class PrunerTest : public StoreFixture {
 protected:
  void prepare(const std::string& parameters, const std::string& prune,
               const std::string& step = "") {
    begin("parameterset: {name: p, parameter: {" + parameters + "}}\n" +
          "step: {name: s, use: p, procs: 100, prune: {" + prune + "}, do: x" + step + "}\n");
    pruner_.emplace(run_, *workspace_, *store_);
  }

  long long number(long long id, const std::string& name) const {
    return std::stoll(*workspace::value_of(store_->at(id).parameters, name));
  }

  /// Starts whatever may start, until all has ended.
  /// @param fits whether the workpackage has enough memory
  /// @returns those that started
  template <class Fits>
  std::vector<long long> run_all(Fits fits) {
    std::vector<long long> all;
    for (;;) {
      pruner_->decide();
      const std::vector<long long> started = start_all();
      if (started.empty())
        return all;
      for (const long long id : started)
        end(id, fits(id) ? Outcome::done : Outcome::out_of_memory);
      all.insert(all.end(), started.begin(), started.end());
    }
  }

  std::vector<std::string> reasons() const {
    std::vector<std::string> reasons;
    for (const workspace::Workpackage& one : store_->all())
      if (one.state == State::skipped)
        reasons.push_back(one.reason);
    return reasons;
  }

  std::optional<Pruner> pruner_;
};

TEST_F(PrunerTest, RunsTheSmallOnesFirstAndSkipsWhatIsImplied) {
  prepare("n: [8, 1, 4, 2, 16]", "larger: n");
  EXPECT_THAT(run_all([&](long long id) { return number(id, "n") < 4; }), ElementsAre(1, 3, 2));
  EXPECT_THAT(reasons(), ElementsAre("OOM (implied by 4)", "OOM (implied by 4)"));
}

TEST_F(PrunerTest, SkipsTheOtherIterationsToo) {
  prepare("n: [1, 2]", "larger: n", ", iterations: 3");
  EXPECT_THAT(run_all([&](long long id) { return number(id, "n") < 2; }), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(reasons(), ElementsAre("OOM (implied by 2)", "OOM (implied by 2)"));
}

TEST_F(PrunerTest, HasOneFrontierForEachCombinationOfTheOthers) {
  prepare("n: [1, 2, 4], m: [1, 2]", "larger: n");
  EXPECT_THAT(run_all([&](long long id) { return number(id, "n") * number(id, "m") < 4; }),
              ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(reasons(), ElementsAre("OOM (implied by 2)"));
}

TEST_F(PrunerTest, ComparesOnlyWhatPerNames) {
  prepare("n: [1, 2, 4], seed: [5, 6]", "larger: n, per: ''");
  EXPECT_THAT(run_all([&](long long id) { return number(id, "n") < 2; }), ElementsAre(0, 1, 2));
}

TEST_F(PrunerTest, WaitsForEachCombinationOfASmallerSize) {
  prepare("n: [1, 2], seed: [5, 6]", "larger: n, per: ''");
  EXPECT_THAT(run_all([&](long long id) { return id != 1; }), ElementsAre(0, 1));
  EXPECT_THAT(reasons(), ElementsAre("OOM (implied by 1)", "OOM (implied by 1)"));
}

TEST_F(PrunerTest, NeedsEveryLargerParameterToBeAtLeastAsLarge) {
  prepare("n: [1, 2, 4], m: [1, 2, 4]", "larger: [n, m]");
  EXPECT_THAT(run_all([&](long long id) { return number(id, "n") * number(id, "m") < 4; }),
              testing::UnorderedElementsAre(0, 1, 2, 3, 4, 6));
  EXPECT_THAT(reasons(), ElementsAre("OOM (implied by n=1 m=4)", "OOM (implied by n=2 m=2)",
                                     "OOM (implied by n=1 m=4)"));
}

TEST_F(PrunerTest, IgnoresParametersThatFollowFromTheLarger) {
  prepare("n: [1, 2, 4], total: {mode: python, _: 10 * $n}", "larger: n");
  run_all([&](long long id) { return number(id, "n") < 2; });
  EXPECT_THAT(reasons(), ElementsAre("OOM (implied by 2)"));
}

TEST_F(PrunerTest, KnowsWhatAnEarlierBenchFound) {
  prepare("n: [1, 2, 4, 8]", "larger: n");
  for (const long long id : {0, 1}) {
    pruner_->decide();
    EXPECT_THAT(start_all(), ElementsAre(id));
    end(id, id == 0 ? Outcome::done : Outcome::out_of_memory);
  }
  reopen();
  pruner_.emplace(run_, *workspace_, *store_);
  EXPECT_THAT(run_all([](long long) { return true; }), IsEmpty());
  EXPECT_THAT(reasons(), ElementsAre("OOM (implied by 2)", "OOM (implied by 2)"));
  reopen();
  EXPECT_EQ(store_->counts().front().skipped, 2);
}

TEST_F(PrunerTest, ImpliesNothingByAnotherFailure) {
  prepare("n: [1, 2]", "larger: n");
  pruner_->decide();
  end(start_all().front(), Outcome::failed);
  EXPECT_THAT(run_all([](long long) { return true; }), ElementsAre(1));
}

}  // namespace
}  // namespace bench::run
