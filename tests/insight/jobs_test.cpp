#include "space/run_fixture.hpp"
#include "support/fake_programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/insight/jobs.hpp>
#include <bench/space/job_script.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::insight {
namespace {

using testing::HasSubstr;

/// A run on a machine with LSF, whose programs a test writes.
class JobNewsTest : public space::RunFixture {
 protected:
  void SetUp() override { plan("step: {name: a, do: x, batch: {nodes: 1}}\n", "Summit"); }
  JobNews news() const { return ask_about_job(run_, "11"); }

  support::FakePrograms programs_;
};

TEST_F(JobNewsTest, WhatTheBatchSystemSaysIsTold) {
  programs_.say("bjobs", "11 0 PEND one\n12 0 RUN two\n");
  const JobNews told = news();
  EXPECT_EQ(told.text, "lsf says PEND");
  EXPECT_FALSE(told.may_end);
}

TEST_F(JobNewsTest, OfAJobThatIsOverContinueFindsOut) {
  programs_.say("bjobs", "11 0 DONE one\n");
  EXPECT_TRUE(news().may_end);
}

TEST_F(JobNewsTest, AJobThatNobodyKnowsMayHaveEnded) {
  programs_.say("bjobs", "12 0 RUN two\n");
  const JobNews told = news();
  EXPECT_EQ(told.text, "lsf no longer knows the job");
  EXPECT_TRUE(told.may_end);
}

TEST_F(JobNewsTest, ABatchSystemThatDoesNotAnswerSaysWhy) {
  programs_.say("bjobs", "", "LSF is down\n", 255);
  const JobNews told = news();
  EXPECT_THAT(told.text, HasSubstr("LSF is down"));
  EXPECT_FALSE(told.may_end);
}

TEST_F(JobNewsTest, TheJobOfAnAttemptIsFoundByItsName) {
  const workspace::Attempt attempt{.workpackage = 0, .number = 1, .uuid = "u", .job_id = "11"};
  programs_.say("bjobs", "11 0 RUN " + space::job_name(run_, "a", attempt) + "\n");
  EXPECT_EQ(ask_about(run_, "a", attempt).text, "lsf says RUN");
}

// A run of another machine, or of a bench that knew more.
TEST_F(JobNewsTest, AMachineThatThisBenchDoesNotKnowIsNotAsked) {
  run_.metadata.platform = "elsewhere";
  EXPECT_EQ(news().text, "the batch system was not asked: unknown platform elsewhere");
}

}  // namespace
}  // namespace bench::insight
