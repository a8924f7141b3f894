#include "workflow/run_fixture.hpp"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/host.hpp>
#include <bench/scheduler/queue.hpp>
#include <bench/setup/parallel.hpp>

namespace bench::scheduler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using workspace::State;

class QueueTest : public workflow::RunFixture {
 protected:
  /// Makes the first workpackages and a queue of them.
  void begin(const std::string& yaml, const std::string& platform = "local") {
    plan(yaml, platform);
    graph_.emplace(run_, std::vector<workspace::Workpackage>{}, evaluator_);
    graph_->make_first();
    queue_.emplace(run_, *graph_);
  }

  /// Starts all that may start; returns their ids.
  std::vector<long long> start_all() {
    std::vector<long long> ids;
    for (long long id = queue_->front(); id >= 0; id = queue_->front()) {
      queue_->started(graph_->at(id));
      graph_->at(id).state = State::running;
      ids.push_back(id);
    }
    return ids;
  }

  void stop(long long id, State state) {
    const State before = std::exchange(graph_->at(id).state, state);
    queue_->stopped(graph_->at(id), before);
    if (state == State::ready)
      queue_->add_ready(graph_->at(id));
  }

  /// Takes what is released, makes the children and gives their parents' ids.
  std::vector<long long> release() {
    const auto released = queue_->take_released(*graph_);
    for (const auto& child : graph_->make_children_of(released))
      queue_->add_ready(child);
    for (const long long id : released)
      graph_->at(id).expanded = true;
    return released;
  }

  std::optional<workflow::Graph> graph_;
  std::optional<Queue> queue_;
};

const std::string four = "parameterset: {name: p, parameter: {n: [1, 2, 3, 4]}}\n";

TEST_F(QueueTest, StartsEverythingInOrderOfIds) {
  begin(four + "step: [{name: a, use: p}, {name: b}]\n");
  EXPECT_THAT(start_all(), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(queue_->front(), -1);
}

TEST_F(QueueTest, LimitsAStepByProcsAndLetsOthersPass) {
  begin(four + "step: [{name: a, use: p, procs: 2}, {name: b}]\n");
  EXPECT_THAT(start_all(), ElementsAre(0, 1, 4));
  stop(0, State::done);
  EXPECT_THAT(start_all(), ElementsAre(2));
}

TEST_F(QueueTest, AFailureFreesItsSlot) {
  begin(four + "step: {name: a, use: p, max_async: 1}\n");
  EXPECT_THAT(start_all(), ElementsAre(0));
  stop(0, State::failed);
  EXPECT_THAT(start_all(), ElementsAre(1));
}

TEST_F(QueueTest, TakesTheSmallerLimit) {
  begin(four + "step: {name: a, use: p, procs: 3, max_async: 2}\n");
  EXPECT_THAT(start_all(), ElementsAre(0, 1));
  begin(four + "step: {name: a, use: p, procs: 2, max_async: 3}\n");
  EXPECT_THAT(start_all(), ElementsAre(0, 1));
  begin(four + "step: {name: a, use: p, procs: 3, max_async: 0}\n");
  EXPECT_THAT(start_all(), ElementsAre(0, 1, 2));
}

TEST_F(QueueTest, RefusesALimitThatIsNone) {
  for (const std::string limit : {"many", "-1", "1.5"})
    EXPECT_EQ(support::error_of([&] { begin("step: {name: a, max_async: '" + limit + "'}\n"); }),
              "in.yaml:1:7: error: max_async of step 'a' is not an integer: " + limit);
}

TEST_F(QueueTest, StartsFirstWhatCameBack) {
  begin(four + "step: {name: a, use: p, procs: 2}\n");
  start_all();
  stop(1, State::ready);
  EXPECT_THAT(start_all(), ElementsAre(1));
}

TEST_F(QueueTest, CountsWhatRunsAlready) {
  begin(four + "step: {name: a, use: p, procs: 2}\n");
  graph_->at(0).state = State::running;
  graph_->at(1).state = State::done;
  queue_.emplace(run_, *graph_);
  EXPECT_THAT(start_all(), ElementsAre(2));
}

const std::string with_child = four + "step: [{name: a, use: p}, {name: b, depend: a}]\n";

TEST_F(QueueTest, ReleasesInOrderOfIds) {
  begin(with_child);
  start_all();
  stop(2, State::done);
  stop(1, State::failed);
  EXPECT_THAT(release(), IsEmpty());
  stop(0, State::done);
  EXPECT_THAT(release(), ElementsAre(0, 2));
  EXPECT_THAT(release(), IsEmpty());
  stop(3, State::done);
  EXPECT_THAT(release(), ElementsAre(3));
}

TEST_F(QueueTest, WaitsForOneThatCameBack) {
  begin(with_child);
  start_all();
  stop(0, State::ready);
  stop(1, State::done);
  EXPECT_THAT(release(), IsEmpty());
  start_all();
  stop(0, State::done);
  EXPECT_THAT(release(), ElementsAre(0, 1));
}

TEST_F(QueueTest, ReleasesNothingOfAStepWithoutChildren) {
  begin(four + "step: {name: a, use: p}\n");
  start_all();
  stop(0, State::done);
  EXPECT_THAT(release(), IsEmpty());
}

TEST_F(QueueTest, ReleasesInOrderOfIdsOverAllSteps) {
  begin("step: [{name: a}, {name: b}, {name: c, depend: a}, {name: d, depend: b}]\n");
  start_all();
  stop(1, State::done);
  EXPECT_THAT(release(), IsEmpty());
  EXPECT_TRUE(queue_->has_unreleased("b"));
  stop(0, State::done);
  EXPECT_THAT(release(), ElementsAre(0, 1));
  EXPECT_FALSE(queue_->has_unreleased("b"));
}

TEST_F(QueueTest, IsNotHeldUpByAStepWithoutChildren) {
  begin("step: [{name: a}, {name: b}, {name: d, depend: b}]\n");
  start_all();
  stop(1, State::done);
  EXPECT_THAT(release(), ElementsAre(1));
}

TEST_F(QueueTest, IsNotHeldUpByWhatWaitsForAFile) {
  begin(four +
        "step: [{name: a, use: p, max_async: 2, do: {done_file: f}}, {name: b, depend: a}]\n");
  EXPECT_THAT(start_all(), ElementsAre(0, 1));
  graph_->at(0).progress.prepared = true;
  stop(0, State::pending);
  stop(1, State::done);
  EXPECT_THAT(release(), ElementsAre(1));
  EXPECT_THAT(start_all(), ElementsAre(2, 4));
  stop(2, State::done);
  EXPECT_THAT(release(), ElementsAre(2));
  stop(0, State::done);
  EXPECT_THAT(release(), ElementsAre(0));
}

TEST_F(QueueTest, IsNotHeldUpByWhatCannotStartBeforeAFileIsThere) {
  begin(
      "step: [{name: a, iterations: 2, max_async: 1, do: {done_file: f}}, {name: b},\n"
      "       {name: c, depend: a}, {name: d, depend: b}]\n");
  EXPECT_THAT(start_all(), ElementsAre(0, 2));
  graph_->at(0).progress.prepared = true;
  stop(0, State::pending);
  stop(2, State::done);
  EXPECT_THAT(release(), ElementsAre(2));
}

TEST_F(QueueTest, ReleasesWhatASchedulerRunsAsItEnds) {
  const std::string batch = four + "step: [{name: a, use: p, batch: true}, {name: b, depend: a}]\n";
  begin(batch, "slurm");
  start_all();
  stop(3, State::done);
  stop(1, State::done);
  EXPECT_THAT(release(), ElementsAre(1, 3));
  begin(batch, "local");
  start_all();
  stop(3, State::done);
  EXPECT_THAT(release(), IsEmpty());
}

TEST_F(QueueTest, ReleasesWhatEndedWithoutHavingBeenExpanded) {
  begin(with_child);
  graph_->at(0).state = graph_->at(1).state = State::done;
  graph_->at(0).expanded = true;
  queue_.emplace(run_, *graph_);
  EXPECT_THAT(release(), ElementsAre(1));
}

TEST_F(QueueTest, GathersWhatABatchSystemShallRun) {
  begin(four + "step: [{name: a, use: p, batch: true}, {name: b}]\n", "slurm");
  EXPECT_THAT(start_all(), ElementsAre(4));
  EXPECT_EQ(queue_->gathered(), 4U);
  EXPECT_THAT(queue_->take_gathered(), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(queue_->gathered(), 0U);
  EXPECT_THAT(queue_->take_gathered(), IsEmpty());
}

TEST_F(QueueTest, GathersWhateverTheLimit) {
  begin(four + "step: {name: a, use: p, batch: true, procs: 1, max_async: 1}\n", "slurm");
  EXPECT_THAT(queue_->take_gathered(), ElementsAre(0, 1, 2, 3));
}

TEST_F(QueueTest, GathersTheStepsInOrderOfIds) {
  begin(
      "step: [{name: a, batch: true}, {name: b, batch: true}, {name: c, depend: a, batch: true}]\n",
      "slurm");
  EXPECT_THAT(queue_->take_gathered(), ElementsAre(0, 1));
  stop(0, State::done);
  release();
  stop(1, State::ready);
  EXPECT_THAT(queue_->take_gathered(), ElementsAre(1, 2));
}

TEST_F(QueueTest, GathersNothingWhereBenchRunsTheJobsItself) {
  begin(four + "step: {name: a, use: p, batch: true}\n", "local");
  EXPECT_EQ(queue_->gathered(), 0U);
  EXPECT_THAT(start_all(), ElementsAre(0, 1, 2, 3));
}

TEST_F(QueueTest, GathersOnceTheFilesAreThere) {
  begin(four + "fileset: {name: f, copy: x}\nstep: {name: a, use: [p, f], batch: true}\n", "slurm");
  EXPECT_EQ(queue_->gathered(), 0U);
  EXPECT_THAT(start_all(), ElementsAre(0, 1, 2, 3));
  graph_->at(2).progress.prepared = true;
  stop(2, State::ready);
  EXPECT_THAT(queue_->take_gathered(), ElementsAre(2));
}

TEST_F(QueueTest, TellsTheLimitOfAStep) {
  const auto limit = [&](const std::string& settings) {
    begin(four + "step: {name: a, use: p, batch: true" + settings + "}\n", "slurm");
    return queue_->limit("a");
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
void PrintTo(const AtOnce& one, std::ostream* out) {
  *out << one.name;
}
class AtOnceTest : public QueueTest, public testing::WithParamInterface<AtOnce> {};

TEST_P(AtOnceTest, IsWhatTheStepAndTheOptionSay) {
  const std::string yaml = four + "step: {name: a, use: p" + GetParam().step + "}\n";
  plan(yaml);
  if (!GetParam().parallel.empty())
    run_.facts["parallel"] = GetParam().parallel;
  graph_.emplace(run_, std::vector<workspace::Workpackage>{}, evaluator_);
  graph_->make_first();
  queue_.emplace(run_, *graph_);
  EXPECT_EQ(queue_->at_once(graph_->at(0)), GetParam().beside);
  EXPECT_EQ(queue_->of_step_at_once("a"), GetParam().of_step);
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

TEST_F(QueueTest, ZeroMeansTheCores) {
  plan(four + "step: {name: a, use: p}\n");
  setup::set_parallel(0, run_);
  EXPECT_EQ(setup::parallel_of(run_), usable_cpus());
  EXPECT_THROW(setup::set_parallel(-1, run_), Error);
}

TEST_F(QueueTest, TheIdsOfChildrenDoNotDependOnTiming) {
  const std::string chain =
      "parameterset: [{name: p, parameter: {n: [1, 2, 3, 4]}}, {name: q, parameter: {m: [1, 2]}}]\n"
      "step: [{name: a, use: p}, {name: b, depend: a, use: q}, {name: c, depend: b}, {name: x},\n"
      "       {name: y, depend: 'x,a', iterations: 2}, {name: z, depend: 'c,y'}]\n";
  plan(chain);
  const auto expected = workflow::texts_of(grown().all());
  ASSERT_EQ(expected.size(), 45U);
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::minstd_rand random(seed);
    begin(chain);
    std::vector<long long> running = start_all();
    while (!running.empty()) {
      const std::size_t which = random() % running.size();
      stop(running[which], State::done);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
      release();
      const auto more = start_all();
      running.insert(running.end(), more.begin(), more.end());
    }
    EXPECT_EQ(workflow::texts_of(graph_->all()), expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace bench::scheduler
