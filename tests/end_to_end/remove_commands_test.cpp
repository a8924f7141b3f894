#include "end_to_end/bench_program.hpp"
#include "terminal.hpp"

#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>

#include <bench/base/unique_fd.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

/// Two runs of three squares, each squared value checked by a second step.
class RemoveTest : public testing::Test {
 protected:
  void SetUp() override {
    here_.write("small.yaml", small_sweep());
    here_.bench({"run", "small.yaml"});
    here_.bench({"run", "small.yaml"});
  }
  Playground here_;
};

TEST_F(RemoveTest, WithoutAnIdTheLastRunGoesAndItIsNamed) {
  const auto removed = here_.bench({"remove", "runs", "-f"});
  EXPECT_EQ(removed.status.code, 0) << removed.standard_error;
  EXPECT_EQ(removed.standard_output, "removed run 1\n");
  EXPECT_TRUE(here_.has("runs/000000/workspace.db"));
  EXPECT_FALSE(here_.has("runs/000001"));
}

TEST_F(RemoveTest, WhatAKilledBenchHasLeftOfARunGoesToo) {
  fs::create_directory(here_.path() / "runs/000002");
  here_.write("runs/000003/workspace.lock", "");
  here_.write("runs/000003/workspace.db.new", "");
  here_.write("runs/000004/configuration.xml", "<!-- a run of JUBE -->");
  EXPECT_EQ(here_.bench({"status", "runs"}).standard_output, "finished\n") << "they are not runs";
  EXPECT_EQ(here_.bench({"remove", "runs", "-i", "2", "-f"}).standard_output, "removed run 2\n");
  EXPECT_FALSE(here_.has("runs/000002"));
  EXPECT_EQ(here_.bench({"remove", "runs", "-f"}).standard_output, "removed run 3\n");
  EXPECT_FALSE(here_.has("runs/000003"));
  EXPECT_EQ(here_.bench({"remove", "runs", "-i", "4", "-f"}).status.code, 1);
  EXPECT_TRUE(here_.has("runs/000004/configuration.xml"));
}

TEST_F(RemoveTest, NothingGoesWhereNobodyCanBeAsked) {
  const auto refused = here_.bench({"remove", "runs"});
  EXPECT_EQ(refused.status.code, 1);
  EXPECT_THAT(refused.standard_error,
              AllOf(HasSubstr("error: cannot ask for confirmation: remove run 1 (small"),
                    HasSubstr("hint: nothing was removed; add --force to remove without asking")));
  EXPECT_TRUE(here_.has("runs/000001/workspace.db"));
}

TEST_F(RemoveTest, OnlyAYesRemoves) {
  for (const char* no : {"n\n", "\n", "no y\n", "\x04"}) {
    EXPECT_EQ(bench_at_terminal(here_, {"remove", "runs"}, no).code, 0);
    EXPECT_TRUE(here_.has("runs/000001/workspace.db")) << no;
  }
  EXPECT_EQ(bench_at_terminal(here_, {"remove", "runs"}, "yes\n").code, 0);
  EXPECT_FALSE(here_.has("runs/000001"));
}

TEST_F(RemoveTest, LinksAreRemovedAndWhatTheyLeadToStays) {
  fs::create_directory(here_.path() / "outside");
  here_.write("outside/precious", "keep me");
  const fs::path work = here_.path() / "runs/000001/000000_compute/work";
  fs::create_directory_symlink(here_.path() / "outside", work / "directory");
  fs::create_symlink(here_.path() / "outside/precious", work / "file");
  EXPECT_EQ(here_.bench({"remove", "runs", "-f"}).status.code, 0);
  EXPECT_FALSE(here_.has("runs/000001"));
  EXPECT_EQ(here_.read("outside/precious"), "keep me");
}

TEST_F(RemoveTest, AWorkpackageDirectoryThatIsALinkLeavesItsTarget) {
  const fs::path directory = here_.path() / "runs/000001/000002_compute";
  fs::rename(directory, here_.path() / "moved");
  fs::create_directory_symlink(here_.path() / "moved", directory);
  EXPECT_EQ(here_.bench({"remove", "runs", "-f", "-w", "2"}).status.code, 0);
  EXPECT_FALSE(fs::is_symlink(directory));
  EXPECT_EQ(here_.read("moved/work/stdout"), "square=9\n");
}

TEST_F(RemoveTest, ARunDirectoryThatIsALinkIsRefused) {
  fs::create_directory_symlink(here_.path() / "runs/000000", here_.path() / "link");
  fs::create_directory_symlink("000000", here_.path() / "runs/000007");
  for (const std::vector<std::string>& where :
       {std::vector<std::string>{"link"}, {"link/"}, {"runs", "-i", "7"}, {"link", "-w", "0"}}) {
    std::vector<std::string> arguments{"remove"};
    arguments.insert(arguments.end(), where.begin(), where.end());
    arguments.push_back("-f");
    const auto refused = here_.bench(arguments);
    EXPECT_EQ(refused.status.code, 1) << where.front();
    EXPECT_THAT(refused.standard_error, HasSubstr("is a link to "));
    EXPECT_TRUE(here_.has("runs/000000/000000_compute/work/stdout"));
  }
}

TEST_F(RemoveTest, AnOutpathThatIsALinkIsFine) {
  fs::create_directory_symlink("runs", here_.path() / "link");
  EXPECT_EQ(here_.bench({"remove", "link", "-i", "0", "-f"}).status.code, 0);
  EXPECT_FALSE(here_.has("runs/000000"));
  EXPECT_TRUE(fs::is_symlink(here_.path() / "link"));
}

TEST_F(RemoveTest, ARunThatAnotherBenchWorksOnIsRefused) {
  const UniqueFd other(
      ::open((here_.path() / "runs/000001/workspace.lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  for (const auto& arguments :
       {std::vector<std::string>{"remove", "runs", "-f"}, {"remove", "runs", "-f", "-w", "0"}}) {
    const auto refused = here_.bench(arguments);
    EXPECT_EQ(refused.status.code, 1);
    EXPECT_THAT(refused.standard_error, HasSubstr("another bench is working on"));
  }
  EXPECT_TRUE(here_.has("runs/000001/000000_compute/work/stdout"));
}

TEST_F(RemoveTest, AWorkpackageGoesWithItsDescendantsAndContinueMakesThemAgain) {
  here_.write("runs/000001/000002_compute/work/stdout", "spoilt");
  const auto removed = here_.bench({"remove", "runs", "-w", "2", "-f"});
  EXPECT_EQ(removed.standard_output,
            "removed 2 workpackages of run 1; `bench continue runs -i 1` makes them again\n");
  EXPECT_FALSE(here_.has("runs/000001/000002_compute"));
  EXPECT_FALSE(here_.has("runs/000001/000005_check"));
  EXPECT_EQ(here_.bench({"status", "runs"}).standard_output, "stopped\n");
  EXPECT_EQ(here_.bench({"continue", "runs"}).status.code, 0);
  EXPECT_EQ(here_.read("runs/000001/000002_compute/work/stdout"), "square=9\n");
  EXPECT_EQ(here_.read("runs/000001/000005_check/work/stdout"), "square=9\n");
  EXPECT_EQ(here_.bench({"status", "runs"}).standard_output, "finished\n");
}

TEST_F(RemoveTest, ChildrenOfOneFromTheMiddleGetNewIds) {
  here_.bench({"remove", "runs", "-w", "0", "-f"});
  EXPECT_FALSE(here_.has("runs/000001/000003_check"));
  EXPECT_EQ(here_.bench({"continue", "runs", "-r"}).status.code, 0);
  EXPECT_EQ(here_.read("runs/000001/000000_compute/work/stdout"), "square=1\n");
  EXPECT_EQ(here_.read("runs/000001/000006_check/work/stdout"), "square=1\n");
  EXPECT_EQ(here_.read("runs/000001/result/squares.dat") + "\n",
            here_.bench({"result", "runs", "-i", "0"}).standard_output);
}

/// A kill between the change of the workspace and the deletion.
TEST_F(RemoveTest, DirectoriesThatAKillLeftAreMadeAfresh) {
  const fs::path run = here_.path() / "runs/000001";
  fs::create_directory(here_.path() / "kept");
  fs::copy(run / "000005_check", here_.path() / "kept/000005_check",
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  fs::copy(run / "000002_compute", here_.path() / "kept/000002_compute",
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  for (const char* name : {"kept/000002_compute/sentinel", "kept/000005_check/sentinel"})
    fs::remove(here_.path() / name);  // what goes first
  here_.bench({"remove", "runs", "-w", "2", "-f"});
  fs::rename(here_.path() / "kept/000005_check", run / "000005_check");
  fs::rename(here_.path() / "kept/000002_compute", run / "000002_compute");
  here_.write("runs/000001/000002_compute/work/stdout", "left over\n");
  EXPECT_EQ(here_.bench({"continue", "runs"}).status.code, 0);
  EXPECT_EQ(here_.read("runs/000001/000002_compute/work/stdout"), "square=9\n");
  EXPECT_EQ(here_.read("runs/000001/000005_check/work/stdout"), "square=9\n");
}

TEST_F(RemoveTest, AFailedWorkpackageIsMadeAgainOnlyAfterItsRemoval) {
  here_.run("f.yaml",
            "name: f\noutpath: failing\n"
            "step: {name: s, do: test -e ../../../cure}\n",
            {}, 1);
  here_.write("failing/cure", "");
  EXPECT_EQ(here_.bench({"continue", "failing"}).status.code, 1);
  here_.bench({"remove", "failing", "-w", "0", "-f"});
  EXPECT_EQ(here_.bench({"continue", "failing"}).status.code, 0);
}

TEST_F(RemoveTest, AnUnknownWorkpackageIsRefusedAndNothingGoes) {
  const auto refused = here_.bench({"remove", "runs", "-w", "0", "17", "-f"});
  EXPECT_EQ(refused.status.code, 1);
  EXPECT_EQ(refused.standard_error,
            "error: unknown workpackage 17\nhint: the run has workpackages 0 to 5\n");
  EXPECT_TRUE(here_.has("runs/000001/000000_compute"));
}

}  // namespace
}  // namespace bench::end_to_end
