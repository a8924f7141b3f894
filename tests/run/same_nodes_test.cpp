#include "run/same_nodes.hpp"

#include "run/ready_queues.hpp"
#include "run/state_store.hpp"
#include "run/store_fixture.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/outcome.hpp>
#include <bench/space/prepare.hpp>
#include <bench/workspace/event.hpp>

namespace bench::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SameNodesTest : public StoreFixture {
 protected:
  /// @param nodes of the workpackages 0, 1 and so on
  void begin_batch(const std::string& nodes, const std::string& step = "") {
    begin("parameterset: {name: p, parameter: [{name: nodes, mode: text, _: '" + nodes +
              "'}, {n: [1, 2, 3]}]}\n"
              "step: {name: a, use: p, do: run $n, batch: {nodes: $nodes, same_nodes: true}" +
              step + "}\n",
          "slurm");
    same_nodes_.emplace(run_, *store_, evaluator_);
  }

  std::vector<long long> submittable() {
    same_nodes_->decide();
    return queues().batch_ready();
  }
  void submit(long long id) {
    store_->apply(claim_of(store_->at(id)));
    store_->apply(workspace::SubmissionIntended{.workpackage = id, .submission = store_->uuid(id)});
    store_->apply(workspace::Submitted{.workpackage = id, .job_id = std::to_string(100 + id)});
  }
  /// What a job leaves that begins.
  void write_sentinel(long long id, const std::string& nodes) {
    const auto file = space::attempt_on_disk(run_, store_->at(id), "").sentinel;
    std::filesystem::create_directories(file.parent_path());
    write_file_atomically(file, "attempt=" + store_->uuid(id) + "\nnodes=" + nodes + "\n");
  }

  std::optional<SameNodes> same_nodes_;
};

TEST_F(SameNodesTest, TheOthersWaitUntilTheFirstHasBegun) {
  begin_batch("2");
  EXPECT_THAT(submittable(), ElementsAre(0));
  submit(0);
  EXPECT_THAT(submittable(), IsEmpty());
  EXPECT_THAT(same_nodes_->notices(),
              ElementsAre("step a: 2 workpackages wait until the job of workpackage 0 has begun, "
                          "to run on its nodes (`same_nodes`)"));
  write_sentinel(0, "n[1-2]");
  EXPECT_THAT(submittable(), ElementsAre(1, 2));
  EXPECT_EQ(same_nodes_->nodes_for(store_->at(2)), "n[1-2]");
  EXPECT_THAT(same_nodes_->notices(), IsEmpty());
}

TEST_F(SameNodesTest, EachNumberOfNodesHasItsOwn) {
  begin_batch("1,2");
  EXPECT_THAT(submittable(), ElementsAre(0, 3));
  submit(0);
  submit(3);
  write_sentinel(3, "n[1-2]");
  EXPECT_THAT(submittable(), ElementsAre(4, 5));
  EXPECT_EQ(same_nodes_->nodes_for(store_->at(1)), "");
}

TEST_F(SameNodesTest, TheNextOneTakesThePlaceOfOneThatNeverBegan) {
  begin_batch("2");
  submittable();
  submit(0);
  end(0, Outcome::cancelled);
  EXPECT_THAT(submittable(), ElementsAre(1));
}

TEST_F(SameNodesTest, TheNextOneTakesThePlaceOfOneThatWasRefused) {
  begin_batch("2");
  submittable();
  store_->defer(0);
  EXPECT_THAT(submittable(), ElementsAre(1));
}

TEST_F(SameNodesTest, OneThatIsCutOffKeepsItsPlace) {
  begin_batch("2");
  submittable();
  submit(0);
  interrupt(0);
  EXPECT_THAT(submittable(), ElementsAre(0));
}

TEST_F(SameNodesTest, AnotherBenchKnowsTheNodesFromTheSentinel) {
  begin_batch("2");
  submittable();
  submit(0);
  write_sentinel(0, "n[1-2]");
  end(0);
  reopen();
  same_nodes_.emplace(run_, *store_, evaluator_);
  EXPECT_THAT(submittable(), ElementsAre(1, 2));
  EXPECT_EQ(same_nodes_->nodes_for(store_->at(1)), "n[1-2]");
}

TEST_F(SameNodesTest, AnotherBenchGoesOnWaiting) {
  begin_batch("2");
  submittable();
  submit(0);
  reopen();
  same_nodes_.emplace(run_, *store_, evaluator_);
  EXPECT_THAT(submittable(), IsEmpty());
}

TEST_F(SameNodesTest, NodesThatAreNotToldHoldNothingUp) {
  begin_batch("2");
  submittable();
  submit(0);
  end(0);
  EXPECT_THAT(submittable(), ElementsAre(1, 2));
  EXPECT_THAT(same_nodes_->notices(), ElementsAre(HasSubstr("did not say on which nodes")));
}

TEST_F(SameNodesTest, WhatMayBeImpliedStaysHeldBack) {
  begin_batch("2", ", prune: {when: oom, larger: [n]}");
  store_->hold(2, Hold::prune);
  submittable();
  submit(0);
  write_sentinel(0, "n[1-2]");
  EXPECT_THAT(submittable(), ElementsAre(1));
  store_->let_go(2, Hold::prune);
  EXPECT_THAT(submittable(), ElementsAre(1, 2));
}

}  // namespace
}  // namespace bench::run
