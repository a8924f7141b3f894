#include "engine/queue.hpp"

#include "engine/fixture.hpp"

#include <algorithm>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using workspace::State;

class QueueTest : public RunFixture {
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

  std::optional<Graph> graph_;
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
              "in.yaml:1:7: error: max_async of step 'a' is no whole number: " + limit);
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

/// The parameters of each step's workpackages, in order of their ids.
std::map<std::string, std::vector<workspace::Parameters>> order_of(const Graph& graph) {
  std::map<std::string, std::vector<workspace::Parameters>> order;
  for (const workspace::Workpackage& workpackage : graph.all())
    order[workpackage.step].push_back(workpackage.parameters);
  return order;
}

TEST_F(QueueTest, TheOrderOfChildrenDoesNotDependOnTiming) {
  const std::string chain =
      "parameterset: [{name: p, parameter: {n: [1, 2, 3, 4]}}, {name: q, parameter: {m: [1, 2]}}]\n"
      "step: [{name: a, use: p}, {name: b, depend: a, use: q}, {name: c, depend: b}]\n";
  plan(chain);
  const auto expected = order_of(grown());
  ASSERT_EQ(expected.at("c").size(), 8U);
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
    EXPECT_EQ(order_of(*graph_), expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace bench::engine
