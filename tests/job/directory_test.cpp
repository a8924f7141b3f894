#include "job/file_operations.hpp"
#include "workflow/run_fixture.hpp"

#include <filesystem>
#include <optional>

#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/execute/file_operation.hpp>
#include <bench/job/prepare.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::job {
namespace {

namespace fs = std::filesystem;

/// The directory of the one workpackage of a step.
class DirectoryTest : public workflow::RunFixture {
 protected:
  DirectoryTest() {
    plan("step: {name: go}\n");
    graph_.emplace(grown());
    run_path_ = run_.directory.path;
    make_directories(run_path_);
  }

  /// Makes the directory, after so many failures; leaves a note in it.
  void make(int retries, const std::string& note) {
    workspace::Workpackage workpackage = graph_->at(0);
    workpackage.retries = retries;
    execute::perform(make_directory(*context_of(run_, *graph_, workpackage, evaluator_), *graph_),
                     {}, evaluator_);
    EXPECT_TRUE(fs::is_empty(run_path_ / "000000_go/work"));
    append_to_file(run_path_ / "000000_go/note", note);
  }

  std::string note(const std::string& directory) const {
    const fs::path file = run_path_ / directory / "note";
    return fs::exists(file) ? read_file(file) : "(none)";
  }

  std::optional<workflow::Graph> graph_;
  fs::path run_path_;
};

TEST_F(DirectoryTest, OfAnInterruptedAttemptIsRemoved) {
  make(0, "first");
  make(0, "second");
  EXPECT_EQ(note("000000_go"), "second");
  EXPECT_FALSE(fs::exists(run_path_ / "retried"));
}

TEST_F(DirectoryTest, OfEachFailedAttemptIsKept) {
  make(0, "first");
  make(1, "second");
  make(2, "third");
  EXPECT_EQ(note("retried/000000_go.1"), "first");
  EXPECT_EQ(note("retried/000000_go.2"), "second");
  EXPECT_EQ(note("000000_go"), "third");
}

/// What is there then is of an attempt that was interrupted after the failed one was set aside.
TEST_F(DirectoryTest, OfAFailedAttemptIsKeptOnce) {
  make(0, "failed");
  make(1, "interrupted");
  make(1, "again");
  EXPECT_EQ(note("retried/000000_go.1"), "failed");
  EXPECT_EQ(note("000000_go"), "again");
}

TEST_F(DirectoryTest, IsMadeWhereTheFailedAttemptHadNone) {
  make(1, "second");
  EXPECT_EQ(note("000000_go"), "second");
  EXPECT_FALSE(fs::exists(run_path_ / "retried"));
}

}  // namespace
}  // namespace bench::job
