#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/host.hpp>
#include <bench/base/outcome.hpp>
#include <bench/run/remove.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {
namespace {

namespace fs = std::filesystem;
using support::error_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using workspace::Workspace;

/// Workpackages 0 and 1, their children 2 (of both) and 3 (of 1), and 4, the child of 3.
class RemoveTest : public testing::Test {
 protected:
  RemoveTest() : workspace_(Workspace::create(directory_.path(), {})) {
    workspace_.replay({workspace::Expanded{
        {}, {made(0, {}), made(1, {}), made(2, {0, 1}), made(3, {1}), made(4, {3})}}});
    finish({0, 1, 2, 3, 4});
  }

  workspace::Workpackage made(long long id, std::vector<long long> parents) {
    workspace::Workpackage workpackage;
    workpackage.id = id;
    workpackage.step = "s";
    workpackage.combination = id;
    workpackage.parents = std::move(parents);
    workpackage.directory = "wp" + std::to_string(id);
    directory_.write(workpackage.directory + "/work/stdout", "text");
    return workpackage;
  }

  void claim(long long id, const std::string& host = host_name()) {
    workspace_.replay(
        {workspace::Claimed{.workpackage = id, .uuid = std::to_string(++attempts_), .host = host}});
  }

  void finish(const std::vector<long long>& ids) {
    for (const long long id : ids) {
      claim(id);
      workspace_.replay({workspace::Ended{
          .workpackage = id, .attempt = {.outcome = Outcome::done}, .environment = {}}});
    }
  }

  int attempts_ = 0;
  support::TempDirectory directory_;
  workspace::RunDirectory run_{0, directory_.path()};
  Workspace workspace_;
};

TEST_F(RemoveTest, TakesEveryDescendantOnce) {
  const Removal removal = plan_removal(workspace_, {1});
  EXPECT_THAT(removal.reset, ElementsAre(1));
  EXPECT_THAT(removal.removed, ElementsAre(2, 3, 4));
}

TEST_F(RemoveTest, SaysOfOneThatIsGoneThatItWasRemoved) {
  remove_workpackages(run_, workspace_, plan_removal(workspace_, {0}));
  EXPECT_THAT(error_of([&] { plan_removal(workspace_, {2}); }),
              HasSubstr("unknown workpackage 2\nhint: it was removed"));
  EXPECT_THAT(error_of([&] { plan_removal(workspace_, {5}); }),
              HasSubstr("the run has workpackages 0 to 4"));
}

TEST_F(RemoveTest, WhatDescendsFromAnotherOneIsNotKept) {
  const Removal removal = plan_removal(workspace_, {4, 3, 0});
  EXPECT_THAT(removal.reset, ElementsAre(0, 3));
  EXPECT_THAT(removal.removed, ElementsAre(2, 4));
}

/// 5 ran out of memory, and 6 and 7 were skipped: 6 as implied, 7 for another reason. 8 is a child
/// of 6.
TEST_F(RemoveTest, DecidesAgainAboutWhatAFailedOneImplied) {
  std::vector<workspace::Workpackage> all{made(5, {}), made(6, {}), made(7, {}), made(8, {6})};
  for (workspace::Workpackage& one : all)
    one.step = "sized";
  workspace_.replay({workspace::Expanded{{}, all}});
  claim(5);
  workspace_.replay(
      {workspace::Ended{
           .workpackage = 5, .attempt = {.outcome = Outcome::out_of_memory}, .environment = {}},
       workspace::Skipped{.workpackage = 6, .reason = "OOM (implied by 8)"},
       workspace::Skipped{.workpackage = 7, .reason = "not selected to be repeated"}});
  const Removal removal = plan_removal(workspace_, {5});
  EXPECT_THAT(removal.reset, ElementsAre(5));
  EXPECT_THAT(removal.reconsidered, ElementsAre(6));
  EXPECT_THAT(removal.removed, ElementsAre(8));
  remove_workpackages(run_, workspace_, removal);
  EXPECT_EQ(workspace_.workpackage(6).state, workspace::State::ready);
  EXPECT_EQ(workspace_.workpackage(7).state, workspace::State::skipped);
  EXPECT_THAT(plan_removal(workspace_, {0}).reconsidered, IsEmpty()) << "it has not failed";
}

TEST_F(RemoveTest, ResetsTheOnesAskedForAndDeletesTheOthersWithTheirDirectories) {
  remove_workpackages(run_, workspace_, plan_removal(workspace_, {3}));
  EXPECT_EQ(workspace_.workpackage(3).state, workspace::State::ready);
  EXPECT_THAT(error_of([&] { workspace_.workpackage(4); }), HasSubstr("no workpackage 4"));
  EXPECT_FALSE(fs::exists(directory_.path() / "wp3"));
  EXPECT_FALSE(fs::exists(directory_.path() / "wp4"));
  EXPECT_TRUE(fs::exists(directory_.path() / "wp2/work/stdout"));
}

TEST_F(RemoveTest, RefusesWhatIsUnderWay) {
  remove_workpackages(run_, workspace_, plan_removal(workspace_, {4}));
  claim(4);
  EXPECT_EQ(error_of([&] { plan_removal(workspace_, {3}); }),
            "error: workpackage 4 (s) was running when bench stopped\n"
            "hint: run `bench continue` first to collect it");
  workspace_.replay({workspace::Submitted{.workpackage = 4, .job_id = "77"}});
  EXPECT_EQ(error_of([&] { plan_removal(workspace_, {4}); }),
            "error: workpackage 4 (s) has a job in the batch system\n"
            "hint: cancel the job with `bench cancel`, or wait for it and run `bench continue`");
}

TEST_F(RemoveTest, GivesUpWhatRanOnAnotherHost) {
  remove_workpackages(run_, workspace_, plan_removal(workspace_, {4}));
  claim(4, "gone");
  EXPECT_THAT(plan_removal(workspace_, {0}).elsewhere, IsEmpty());
  const Removal removal = plan_removal(workspace_, {4});
  EXPECT_THAT(removal.elsewhere, ElementsAre(Pair(4, "gone")));
  remove_workpackages(run_, workspace_, removal);
  EXPECT_EQ(workspace_.workpackage(4).state, workspace::State::ready);
}

TEST_F(RemoveTest, RefusesWhatNeverGotItsParameters) {
  workspace::Workpackage failed = made(5, {3});
  failed.state = workspace::State::failed;
  workspace_.replay({workspace::Expanded{{}, {failed}}});
  EXPECT_THAT(error_of([&] { plan_removal(workspace_, {5}); }),
              HasSubstr("hint: remove its parent, workpackage 3,"));
  EXPECT_THAT(plan_removal(workspace_, {3}).removed, ElementsAre(4, 5));
}

TEST_F(RemoveTest, NeverLeavesTheRunDirectory) {
  support::TempDirectory outside;
  outside.write("precious/file", "keep me");
  for (const std::string& name :
       {std::string("../") + outside.path().filename().string() + "/precious",
        (outside.path() / "precious").string(), std::string(".."), std::string("")}) {
    workspace_.replay({workspace::Expanded{{}, {{.id = 9, .step = "s", .directory = name}}}});
    EXPECT_THAT(
        error_of([&] { remove_workpackages(run_, workspace_, plan_removal(workspace_, {9})); }),
        HasSubstr("is not in the run directory"))
        << name;
    workspace_.replay({workspace::Removed{{9}}});
  }
  EXPECT_TRUE(fs::exists(outside.path() / "precious/file"));
}

TEST_F(RemoveTest, ARunGoesWithEverythingInIt) {
  const fs::path run = directory_.path() / "000001";
  fs::create_directories(run / "000000_s/work");
  fs::create_directory_symlink(directory_.path() / "wp0", run / "000000_s/work/link");
  remove_run({1, run / ""});
  EXPECT_FALSE(fs::exists(run));
  EXPECT_TRUE(fs::exists(directory_.path() / "wp0/work/stdout"));
}

}  // namespace
}  // namespace bench::run
