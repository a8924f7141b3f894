#include "pages/run_index.hpp"

#include "support/temp_directory.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::pages {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RunIndexTest : public testing::Test {
 protected:
  fs::path make_run(const std::string& name) const {
    const fs::path directory = fs::canonical(here_.path()) / name;
    make_directories(directory);
    workspace::Workspace::create(directory,
                                 {{"benchmark", "b"}, {"started", "2026-01-31 13:05:09"}});
    return directory;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& run : RunIndex(fs::canonical(here_.path())).all())
      found.push_back(run->name);
    return found;
  }

  support::TempDirectory here_;
};

TEST_F(RunIndexTest, FindsRunsAtAnyDepth) {
  make_run("a/000000");
  make_run("b/c/d/000003");
  make_run(".hidden/000000");
  make_run("a/000000/000000_s/000001");  // what a workpackage has copied is no run of its own
  EXPECT_THAT(names(), ElementsAre("a/000000", "b/c/d/000003"));
}

TEST_F(RunIndexTest, NothingIsFoundInAnEmptyDirectory) {
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(RunIndexTest, FollowsNoLinks) {
  const support::TempDirectory elsewhere;
  const fs::path outside = elsewhere.path() / "000000";
  make_directories(outside);
  workspace::Workspace::create(outside, {{"benchmark", "secret"}});
  fs::create_directory_symlink(elsewhere.path(), here_.path() / "linked");
  make_directories(here_.path() / "runs/000001");
  fs::create_symlink(outside / "workspace.db", here_.path() / "runs/000001/workspace.db");
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(RunIndexTest, ARunThatCannotBeReadIsListedWithTheReason) {
  make_run("runs/000000");
  make_directories(here_.path() / "runs/000001");
  write_file_atomically(here_.path() / "runs/000001/workspace.db", "not a database");
  RunIndex index(fs::canonical(here_.path()));
  const auto all = index.all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(state_of(*all[0]), "finished");
  EXPECT_EQ(state_of(*all[1]), "unreadable");
  EXPECT_THAT(all[1]->unreadable, HasSubstr("000001"));
}

TEST_F(RunIndexTest, SeesThatARunHasChanged) {
  const fs::path directory = make_run("runs/000000");
  RunIndex index(fs::canonical(here_.path()));
  EXPECT_EQ(index.find("runs/000000")->comment, "");
  workspace::Workspace::open(directory, workspace::Workspace::Access::write)
      .set_fact("comment", "new");
  EXPECT_EQ(index.find("runs/000000")->comment, "new");
  EXPECT_EQ(index.find("runs/000001"), nullptr);
  EXPECT_EQ(index.find("../runs/000000"), nullptr);
}

}  // namespace
}  // namespace bench::pages
