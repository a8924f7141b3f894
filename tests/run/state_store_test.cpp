#include "run/state_store.hpp"

#include "run/store_fixture.hpp"
#include "space/run_fixture.hpp"
#include "support/error_of.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/error.hpp>
#include <bench/base/outcome.hpp>
#include <bench/base/process.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using workspace::EnvironmentChanges;
using workspace::Event;
using workspace::State;
using workspace::Workpackage;

using StateStoreTest = StoreFixture;

TEST_F(StateStoreTest, RefusesAnIllegalEventAndChangesNothing) {
  begin(four + "step: {name: a, use: p}\n");
  write();
  EXPECT_EQ(support::error_of([&] { end(2); }),
            "error: cannot end workpackage 2 (state: ready)\n"
            "hint: did another program change the workspace?");
  EXPECT_EQ(store_->at(2).state, State::ready);
  EXPECT_EQ(store_->counts().at(0).ready, 4);
  EXPECT_FALSE(store_->has_events());
}

TEST_F(StateStoreTest, TellsListenersOfEveryEventAfterIt) {
  begin(four + "step: {name: a, use: p}\n");
  std::vector<State> seen;
  store_->listen([&](const Event& event) {
    if (const auto* ended = std::get_if<workspace::Ended>(&event))
      seen.push_back(store_->at(ended->workpackage).state);
  });
  start_all();
  end(0);
  end(1, Outcome::timeout);
  EXPECT_THAT(seen, ElementsAre(State::done, State::failed));
  EXPECT_TRUE(store_->any_failed());
}

TEST_F(StateStoreTest, ADeferredWorkpackageStartsWithTheNextBench) {
  begin(four + "step: {name: a, use: p}\n");
  store_->apply(claim_of(store_->at(0)));
  interrupt(0);
  store_->defer(0);
  EXPECT_THAT(start_all(), ElementsAre(1, 2, 3));
  reopen();
  EXPECT_THAT(start_all(), ElementsAre(0));
}

TEST_F(StateStoreTest, KnowsAnEnvironmentBeforeTheWorkspaceDoes) {
  begin("step: {name: a, shared: d, do: [x, {shared: true, _: y}]}\n");
  start_all();
  const EnvironmentChanges left{{"X", "3"}, {"Y", std::nullopt}};
  advance(0, State::waiting, {true, 0, 1}, left);
  EXPECT_EQ(store_->inherited_environment(0), left);
  reopen();
  EXPECT_EQ(store_->inherited_environment(0), left);
}

// As in JUBE, what a parent has unset stays set in its children.
TEST_F(StateStoreTest, ChildrenInheritWhatTheirParentsExport) {
  begin("step: [{name: a, export: true}, {name: b}, {name: c, depend: 'a,b'}]\n");
  start_all();
  const EnvironmentChanges left{{"X", "1"}, {"Y", std::nullopt}};
  for (const long long id : {0, 1})
    store_->apply(workspace::Ended{
        .workpackage = id, .attempt = {.outcome = Outcome::done}, .environment = left});
  release();
  EXPECT_EQ(store_->inherited_environment(2), (EnvironmentChanges{{"X", "1"}}));
}

TEST_F(StateStoreTest, AnAttemptIsNamedAfterItsNextSegment) {
  begin(four + "step: {name: a, use: p}\n");
  const workspace::Claimed first = claim_of(store_->at(0));
  const workspace::Claimed second = claim_of(store_->at(0));
  EXPECT_NE(first.uuid, second.uuid);
  EXPECT_EQ(first.uuid.substr(24), second.uuid.substr(24));
  EXPECT_NE(first.uuid.substr(24), claim_of(store_->at(1)).uuid.substr(24));
}

/// A batch step, one that is chained to it, and one that is not.
class ChainedStoreTest : public StoreFixture {
 protected:
  ChainedStoreTest() {
    plan(
        "parameterset: {name: p, parameter: {n: [1, 2]}}\n"
        "step: [{name: a, use: p, batch: true}, {name: b, depend: a, batch: true},\n"
        "       {name: c, depend: a}]\n",
        "slurm");
    run_.metadata.chained = "b";
    create();
  }

  void submit(long long id) {
    store_->apply(claim_of(store_->at(id)));
    store_->apply(workspace::Submitted{id, "4711"});
  }
  std::vector<std::string> all() const { return space::texts_of(store_->all()); }
};

TEST_F(ChainedStoreTest, ChildrenComeWithTheJobsOfTheirParentsAndTheOthersWithTheirEnd) {
  submit(0);
  submit(1);
  store_->expand_released();
  EXPECT_THAT(all(),
              ElementsAre("0 a() 1 i0 c0", "1 a() 2 i0 c1", "2 b(0) 1 i0 c2", "3 b(1) 2 i0 c3"));
  EXPECT_THAT(claim_batch(), ElementsAre(2, 3));
  end(0);
  store_->expand_released();
  EXPECT_EQ(all().back(), "4 c(0) 1 i0 c4");
  reopen();
  end(1);
  store_->expand_released();
  EXPECT_EQ(all().back(), "5 c(1) 2 i0 c5");
  EXPECT_EQ(store_->all().size(), 6U);
}

TEST_F(ChainedStoreTest, AChildMayStartOnlyWhileItsParentHasAJobOrIsDone) {
  submit(0);
  store_->expand_released();
  EXPECT_THAT(queues().batch_ready(), ElementsAre(1, 2));
  store_->apply(workspace::Retried{.workpackage = 0, .attempt = {.outcome = Outcome::failed}});
  EXPECT_THAT(queues().batch_ready(), ElementsAre(0, 1));
  reopen();
  EXPECT_THAT(queues().batch_ready(), ElementsAre(0, 1));
  submit(0);
  EXPECT_THAT(queues().batch_ready(), ElementsAre(1, 2));
  end(0);
  EXPECT_THAT(queues().batch_ready(), ElementsAre(1, 2));
}

TEST_F(ChainedStoreTest, SaysWhatIsNewForThoseThatAreAhead) {
  submit(0);
  store_->expand_released();
  EXPECT_THAT(store_->take_chained_news(), ElementsAre(2));
  submit(1);
  EXPECT_THAT(store_->take_chained_news(), IsEmpty());
  end(0, Outcome::failed);
  EXPECT_THAT(store_->take_chained_news(), ElementsAre(2));
  EXPECT_TRUE(store_->is_ahead(store_->at(2)));
  reopen();
  EXPECT_THAT(store_->take_chained_news(), ElementsAre(2)) << "for the bench that continues";
}

/// Random histories of runs with every kind of event.
class RandomHistory : public StoreFixture, public testing::WithParamInterface<unsigned> {
 protected:
  /// Steps with joins, cycles, iterations, limits, a barrier, a batch job and exports.
  static constexpr const char* benchmark =
      "parameterset: [{name: p, parameter: {n: [1, 2, 3]}}, {name: q, parameter: {m: [1, 2]}}]\n"
      "step: [{name: a, use: p, export: true, max_async: 2, do: [x, {done_file: f}]},\n"
      "       {name: b, use: q, cycles: 2, shared: d, do: [x, {shared: true, _: y}, "
      "z]},\n"
      "       {name: c, depend: 'a,b', iterations: 2, procs: 3},\n"
      "       {name: d, depend: c, batch: true}]\n";
  /// Batch steps, two of them chained, with a join of parents of which one is chained itself.
  static constexpr const char* chained_benchmark =
      "parameterset: {name: p, parameter: {n: [1, 2, 3]}}\n"
      "step: [{name: a, use: p, batch: true}, {name: b, depend: a, batch: true},\n"
      "       {name: c, depend: 'a,b', batch: true, iterations: 2}, {name: d, depend: b}]\n";

  unsigned random(std::size_t below) { return static_cast<unsigned>(random_() % below); }

  /// Any event for any workpackage, legal or not.
  Event any_event() {
    const auto id = static_cast<long long>(store_->all()[random(store_->all().size())].id);
    const EnvironmentChanges environment =
        random(2) == 0 ? EnvironmentChanges{}
                       : EnvironmentChanges{{"X", std::to_string(random(9))}, {"Y", std::nullopt}};
    const workspace::Progress progress{true, static_cast<int>(random(2)),
                                       static_cast<int>(random(2))};
    const Outcome outcome = std::array{Outcome::done, Outcome::done, Outcome::done,
                                       Outcome::done, Outcome::done, Outcome::timeout}[random(6)];
    switch (random(11)) {
      case 0:
      case 9:
        return claim_of(store_->at(id));
      case 10:
        if (random(20) == 0)
          return workspace::Skipped{id, "implied"};
        return claim_of(store_->at(id));
      case 1:
        return workspace::SubmissionIntended{id, "s" + std::to_string(random(9)), 1};
      case 2:
        return workspace::Submitted{id, "4711"};
      case 3:
      case 4:
        return workspace::Ended{
            .workpackage = id, .attempt = {.outcome = outcome}, .environment = environment};
      case 5:
        return workspace::Retried{.workpackage = id, .attempt = {.outcome = outcome}};
      case 6:
        return workspace::Interrupted{id, "cut off", random(2) == 0};
      case 7:
        return workspace::Advanced{id, State::ready, progress, environment};
      default:
        return workspace::Advanced{id, State::waiting, progress, environment};
    }
  }

  /// One thing that happens: an event, which may be refused; an expansion; or a write.
  void happen() {
    if (random(8) == 0)
      store_->expand_released();
    try {
      const Event event = any_event();
      store_->apply(event);
    } catch (const Error&) {
      ++refused_;
    }
  }

  /// What follows from the workpackages alone, counted here once more.
  void expect_consistent() {
    std::map<std::string, workspace::StepCounts> counts;
    for (const model::Step& step : run_.benchmark.steps)
      counts[step.name].step = step.name;
    std::set<long long> pending;
    for (const Workpackage& workpackage : store_->all()) {
      ++counts[workpackage.step].of(workpackage.state);
      if (workpackage.state == State::waiting)
        pending.insert(workpackage.id);
    }
    for (const workspace::StepCounts& step : store_->counts())
      EXPECT_EQ(step, counts.at(step.step)) << step.step;
    EXPECT_EQ(queues().waiting(), pending);
    const long long front = queues().front();
    EXPECT_TRUE(front < 0 || store_->at(front).state == State::ready) << front;
    for (const long long id : queues().batch_ready()) {
      EXPECT_EQ(store_->at(id).state, State::ready);
      for (const long long parent : store_->at(id).parents)
        EXPECT_TRUE(store_->at(parent).state == State::done ||
                    store_->at(parent).state == State::submitted)
            << id;
    }
  }

  /// The workspace holds what the store holds, and a new store starts from the same.
  void expect_written() {
    write();
    EXPECT_EQ(workspace_->workpackages(), store_->all());
    const StateStore again(run_, *workspace_, evaluator_);
    EXPECT_EQ(again.counts(), store_->counts());
    for (const Workpackage& workpackage : store_->all())
      EXPECT_EQ(again.environment(workpackage.id), store_->environment(workpackage.id));
    EXPECT_EQ(again.queues().front(), queues().front());
    EXPECT_EQ(again.queues().batch_ready(), queues().batch_ready());
  }

  std::minstd_rand random_{GetParam() + 1};
  int refused_ = 0;
};

TEST_P(RandomHistory, MemoryAndDatabaseAgreeAfterEveryWrite) {
  const bool is_chained = GetParam() % 4 == 1;
  plan(is_chained ? chained_benchmark : benchmark, GetParam() % 2 == 0 ? "local" : "slurm");
  if (is_chained)
    run_.metadata.chained = "b,c";
  create();
  for (int k = 0; k < 1600; ++k) {
    happen();
    if (k % 100 == 0) {
      expect_consistent();
      expect_written();
    }
  }
  EXPECT_GT(refused_, 0);
  EXPECT_GT(store_->all().size(), 5U) << "nothing was expanded";
  EXPECT_EQ(is_chained, std::ranges::any_of(store_->all(), &Workpackage::expanded_ahead));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomHistory, testing::Range(0U, 12U));

}  // namespace
}  // namespace bench::run
