#include "run/store_fixture.hpp"
#include "space/run_fixture.hpp"
#include "support/error_of.hpp"

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/host.hpp>
#include <bench/base/outcome.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using workspace::State;

using ReadyQueuesTest = StoreFixture;

TEST_F(ReadyQueuesTest, StartsEverythingInOrderOfIds) {
  begin(four + "step: [{name: a, use: p}, {name: b}]\n");
  EXPECT_THAT(start_all(), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(queues().front(), -1);
}

TEST_F(ReadyQueuesTest, LimitsAStepByProcsAndLetsOthersPass) {
  begin(four + "step: [{name: a, use: p, procs: 2}, {name: b}]\n");
  EXPECT_THAT(start_all(), ElementsAre(0, 1, 4));
  end(0);
  EXPECT_THAT(start_all(), ElementsAre(2));
}

TEST_F(ReadyQueuesTest, AFailureFreesItsSlot) {
  begin(four + "step: {name: a, use: p, max_async: 1}\n");
  EXPECT_THAT(start_all(), ElementsAre(0));
  end(0, Outcome::failed);
  EXPECT_THAT(start_all(), ElementsAre(1));
}

TEST_F(ReadyQueuesTest, WaitingAtASharedCommandFreesASlot) {
  begin(four + "step: {name: a, use: p, max_async: 1, shared: d, do: [x, {shared: true, _: y}]}\n");
  EXPECT_THAT(start_all(), ElementsAre(0));
  advance(0, State::waiting, {true, 0, 1});
  EXPECT_THAT(start_all(), ElementsAre(1));
}

TEST_F(ReadyQueuesTest, TakesTheSmallerLimit) {
  begin(four + "step: {name: a, use: p, procs: 3, max_async: 2}\n");
  EXPECT_THAT(start_all(), ElementsAre(0, 1));
  begin(four + "step: {name: a, use: p, procs: 2, max_async: 3}\n");
  EXPECT_THAT(start_all(), ElementsAre(0, 1));
  begin(four + "step: {name: a, use: p, procs: 3, max_async: 0}\n");
  EXPECT_THAT(start_all(), ElementsAre(0, 1, 2));
}

TEST_F(ReadyQueuesTest, RefusesALimitThatIsNone) {
  for (const std::string limit : {"many", "-1", "1.5"})
    EXPECT_EQ(support::error_of([&] { begin("step: {name: a, max_async: '" + limit + "'}\n"); }),
              "in.yaml:1:7: error: max_async of step 'a' is not an integer: " + limit);
}

TEST_F(ReadyQueuesTest, StartsFirstWhatCameBack) {
  begin(four + "step: {name: a, use: p, procs: 2}\n");
  start_all();
  interrupt(1);
  EXPECT_THAT(start_all(), ElementsAre(1));
}

TEST_F(ReadyQueuesTest, CountsWhatRunsAlready) {
  begin(four + "step: {name: a, use: p, procs: 2}\n");
  start_all();
  end(1);
  reopen();
  EXPECT_THAT(start_all(), ElementsAre(2));
}

const std::string with_child = four + "step: [{name: a, use: p}, {name: b, depend: a}]\n";

TEST_F(ReadyQueuesTest, ReleasesInOrderOfIds) {
  begin(with_child);
  start_all();
  end(2);
  end(1, Outcome::failed);
  EXPECT_THAT(release(), IsEmpty());
  end(0);
  EXPECT_THAT(release(), ElementsAre(0, 2));
  EXPECT_THAT(release(), IsEmpty());
  end(3);
  EXPECT_THAT(release(), ElementsAre(3));
}

TEST_F(ReadyQueuesTest, WaitsForOneThatCameBack) {
  begin(with_child);
  start_all();
  interrupt(0);
  end(1);
  EXPECT_THAT(release(), IsEmpty());
  start_all();
  end(0);
  EXPECT_THAT(release(), ElementsAre(0, 1));
}

TEST_F(ReadyQueuesTest, ReleasesNothingOfAStepWithoutChildren) {
  begin(four + "step: {name: a, use: p}\n");
  start_all();
  end(0);
  EXPECT_THAT(release(), IsEmpty());
}

TEST_F(ReadyQueuesTest, ReleasesInOrderOfIdsOverAllSteps) {
  begin("step: [{name: a}, {name: b}, {name: c, depend: a}, {name: d, depend: b}]\n");
  start_all();
  end(1);
  EXPECT_THAT(release(), IsEmpty());
  EXPECT_TRUE(store_->has_unexpanded(run_.benchmark.steps.at(1)));
  end(0);
  EXPECT_THAT(release(), ElementsAre(0, 1));
  EXPECT_FALSE(store_->has_unexpanded(run_.benchmark.steps.at(1)));
}

TEST_F(ReadyQueuesTest, IsNotHeldUpByAStepWithoutChildren) {
  begin("step: [{name: a}, {name: b}, {name: d, depend: b}]\n");
  start_all();
  end(1);
  EXPECT_THAT(release(), ElementsAre(1));
}

TEST_F(ReadyQueuesTest, IsNotHeldUpByWhatWaitsForAFile) {
  begin(four +
        "step: [{name: a, use: p, max_async: 2, do: {done_file: f}}, {name: b, depend: a}]\n");
  EXPECT_THAT(start_all(), ElementsAre(0, 1));
  advance(0, State::waiting);
  end(1);
  EXPECT_THAT(release(), ElementsAre(1));
  EXPECT_THAT(start_all(), ElementsAre(2, 4));
  end(2);
  EXPECT_THAT(release(), ElementsAre(2));
  end(0);
  EXPECT_THAT(release(), ElementsAre(0));
}

TEST_F(ReadyQueuesTest, IsNotHeldUpByWhatCannotStartBeforeAFileIsThere) {
  begin(
      "step: [{name: a, iterations: 2, max_async: 1, do: {done_file: f}}, {name: b},\n"
      "       {name: c, depend: a}, {name: d, depend: b}]\n");
  EXPECT_THAT(start_all(), ElementsAre(0, 2));
  advance(0, State::waiting);
  end(2);
  EXPECT_THAT(release(), ElementsAre(2));
}

TEST_F(ReadyQueuesTest, ReleasesWhatASchedulerRunsAsItEnds) {
  const std::string batch = four + "step: [{name: a, use: p, batch: true}, {name: b, depend: a}]\n";
  begin(batch, "slurm");
  claim_batch();
  end(3);
  end(1);
  EXPECT_THAT(release(), ElementsAre(1, 3));
  begin(batch, "local");
  start_all();
  end(3);
  EXPECT_THAT(release(), IsEmpty());
}

TEST_F(ReadyQueuesTest, ReleasesWhatEndedWithoutHavingBeenExpanded) {
  begin(with_child);
  start_all();
  end(0);
  release();
  end(1);
  reopen();
  EXPECT_THAT(release(), ElementsAre(1));
}

TEST_F(ReadyQueuesTest, CollectsWhatABatchSystemRuns) {
  begin(four + "step: [{name: a, use: p, batch: true}, {name: b}]\n", "slurm");
  EXPECT_THAT(start_all(), ElementsAre(4));
  EXPECT_EQ(queues().batch_ready_count(), 4U);
  EXPECT_THAT(claim_batch(), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(queues().batch_ready_count(), 0U);
  EXPECT_THAT(queues().batch_ready(), IsEmpty());
}

TEST_F(ReadyQueuesTest, CollectsWhateverTheLimit) {
  begin(four + "step: {name: a, use: p, batch: true, procs: 1, max_async: 1}\n", "slurm");
  EXPECT_THAT(queues().batch_ready(), ElementsAre(0, 1, 2, 3));
}

TEST_F(ReadyQueuesTest, CollectsTheStepsInOrderOfIds) {
  begin(
      "step: [{name: a, batch: true}, {name: b, batch: true}, {name: c, depend: a, batch: true}]\n",
      "slurm");
  EXPECT_THAT(claim_batch(), ElementsAre(0, 1));
  end(0);
  release();
  interrupt(1);
  EXPECT_THAT(queues().batch_ready(), ElementsAre(1, 2));
}

TEST_F(ReadyQueuesTest, CollectsNothingWhereBenchRunsTheJobsItself) {
  begin(four + "step: {name: a, use: p, batch: true}\n", "local");
  EXPECT_EQ(queues().batch_ready_count(), 0U);
  EXPECT_THAT(start_all(), ElementsAre(0, 1, 2, 3));
}

TEST_F(ReadyQueuesTest, CollectsOnceTheFilesExist) {
  begin(four + "fileset: {name: f, copy: x}\nstep: {name: a, use: [p, f], batch: true}\n", "slurm");
  EXPECT_EQ(queues().batch_ready_count(), 0U);
  EXPECT_THAT(start_all(), ElementsAre(0, 1, 2, 3));
  advance(2, State::ready);
  EXPECT_THAT(queues().batch_ready(), ElementsAre(2));
}

TEST_F(ReadyQueuesTest, TellsTheLimitOfAStep) {
  const auto limit = [&](const std::string& settings) {
    begin(four + "step: {name: a, use: p, batch: true" + settings + "}\n", "slurm");
    return store_->limit(run_.benchmark.steps.at(0));
  };
  EXPECT_EQ(limit(""), 0);
  EXPECT_EQ(limit(", procs: 2"), 2);
  EXPECT_EQ(limit(", max_async: 3"), 3);
  EXPECT_EQ(limit(", max_async: 3, procs: 2"), 2);
  EXPECT_EQ(limit(", max_async: 2, procs: 3"), 2);
  EXPECT_EQ(limit(", max_async: $n"), 1);
  EXPECT_EQ(limit(", work_dir: d"), 1);
  EXPECT_EQ(limit(", shared: d"), 1);
  EXPECT_EQ(limit(", shared: d, procs: 4"), 4);
}

struct AtOnce {
  std::string name;
  std::string step;      ///< What else the step says.
  std::string parallel;  ///< What `-j` says; empty: not given.
  int beside = 0;        ///< How many may run while one of the step does.
  int of_step = 0;
};
class AtOnceTest : public ReadyQueuesTest, public testing::WithParamInterface<AtOnce> {};

TEST_P(AtOnceTest, IsWhatTheStepAndTheOptionSay) {
  const std::string yaml = four + "step: {name: a, use: p" + GetParam().step + "}\n";
  plan(yaml);
  if (!GetParam().parallel.empty())
    run_.metadata.parallel = std::stoi(GetParam().parallel);
  create();
  EXPECT_EQ(queues().concurrency().beside(0, store_->at(0)), GetParam().beside);
  EXPECT_EQ(queues().concurrency().of_step(0), GetParam().of_step);
}

INSTANTIATE_TEST_SUITE_P(Limits, AtOnceTest,
                         testing::Values(AtOnce{"Default", "", "", 1, 1},
                                         AtOnce{"Procs", ", procs: 16", "", 16, 16},
                                         AtOnce{"MaxAsync", ", max_async: 3", "", 3, 3},
                                         AtOnce{"NoLimitOfMaxAsync", ", max_async: 0", "", 1, 1},
                                         AtOnce{"SmallerOne", ", procs: 4, max_async: 2", "", 2, 2},
                                         AtOnce{"OneDirectory", ", work_dir: d", "", 1, 1},
                                         AtOnce{"Option", "", "8", 8, 8},
                                         AtOnce{"OptionAboveProcs", ", procs: 2", "8", 8, 2},
                                         AtOnce{"OptionBelowProcs", ", procs: 16", "8", 8, 8},
                                         AtOnce{"JobScript", ", batch: true, procs: 4", "8", 1, 1}),
                         [](const auto& one) { return one.param.name; });

TEST_F(ReadyQueuesTest, ZeroMeansTheCores) {
  plan(four + "step: {name: a, use: p}\n");
  space::set_parallel(0, run_);
  EXPECT_EQ(space::parallel_of(run_), usable_cpus());
  EXPECT_THAT(support::error_of([&] { space::set_parallel(-1, run_); }),
              testing::HasSubstr("invalid number of workpackages at a time: '-1'"));
}

TEST_F(ReadyQueuesTest, TheIdsOfChildrenDoNotDependOnTiming) {
  const std::string chain =
      "parameterset: [{name: p, parameter: {n: [1, 2, 3, 4]}}, {name: q, parameter: {m: [1, 2]}}]\n"
      "step: [{name: a, use: p}, {name: b, depend: a, use: q}, {name: c, depend: b}, {name: x},\n"
      "       {name: y, depend: 'x,a', iterations: 2}, {name: z, depend: 'c,y'}]\n";
  plan(chain);
  const auto expected = space::texts_of(grown().all());
  ASSERT_EQ(expected.size(), 45U);
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::minstd_rand random(seed);
    begin(chain);
    std::vector<long long> running = start_all();
    while (!running.empty()) {
      const std::size_t which = random() % running.size();
      end(running[which]);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
      release();
      const auto more = start_all();
      running.insert(running.end(), more.begin(), more.end());
    }
    EXPECT_EQ(space::texts_of(store_->all()), expected) << "seed " << seed;
  }
}

class OrderTest : public StoreFixture {
 protected:
  std::vector<long long> order(const std::string& order, long long seed = 0) {
    plan(four + "step: {name: s, use: p, iterations: 2, procs: 100, order: " + order + "}\n");
    run_.metadata.order_seed = seed;
    create();
    return start_all();
  }
};

TEST_F(OrderTest, IsThatOfTheIdsUnlessTold) {
  EXPECT_THAT(order("given"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST_F(OrderTest, InterleavesIterations) {
  EXPECT_THAT(order("interleaved"), ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
}

TEST_F(OrderTest, IsRandomAndThatOfItsSeed) {
  const std::vector<long long> one = order("random", 1);
  EXPECT_THAT(one, testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_FALSE(std::ranges::is_sorted(one));
  EXPECT_EQ(order("random", 1), one);
  EXPECT_NE(order("random", 2), one);
}

TEST_F(OrderTest, HoldsForWhatIsLeftAfterAnotherBench) {
  const std::vector<long long> all = order("random", 3);
  create();
  store_->apply(claim_of(store_->at(queues().front())));
  end(all.front());
  reopen();
  EXPECT_EQ(start_all(), std::vector(all.begin() + 1, all.end()));
}

}  // namespace
}  // namespace bench::run
