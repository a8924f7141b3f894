#include "space/run_fixture.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/machine/file_operation.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/render_context.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {
namespace {

namespace fs = std::filesystem;

/// The directory of the one workpackage of a step.
class DirectoryTest : public RunFixture {
 protected:
  DirectoryTest() {
    plan("step: {name: go}\n");
    run_path_ = run_.directory.path;
    make_directories(run_path_);
  }

  /// Makes the directory, after so many failures; leaves a note in it.
  void make(int retries, const std::string& note) {
    workspace::Workpackage workpackage = graph().at(0);
    workpackage.retries = retries;
    machine::perform(make_directory(context(workpackage), graph()), {}, evaluator_);
    EXPECT_TRUE(fs::is_empty(run_path_ / "000000_go/work"));
    append_to_file(run_path_ / "000000_go/note", note);
  }

  std::string note(const std::string& directory) const {
    const fs::path file = run_path_ / directory / "note";
    return fs::exists(file) ? read_file(file) : "(none)";
  }

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

struct WorkDir {
  std::string text;
  bool is_shared = false;
};

TEST_F(DirectoryTest, OutputOfAnEarlierAttemptIsKeptApartInItsOwnWorkDir) {
  for (const WorkDir& one : {WorkDir{"own_$n"}, WorkDir{"common", true}}) {
    plan(
        "parameterset: {name: p, parameter: {n: [1, 2]}}\n"
        "step: {name: go, use: p, work_dir: " +
        (directory_.path() / one.text).string() + ", do: {stdout: said, _: x}}\n");
    workspace::Workpackage workpackage = graph().at(0);
    const auto begin_attempt = [&](int number) {
      workpackage.attempts = number;
      const RenderContext of = context(workpackage);
      machine::perform(make_directory(of, graph()), {}, evaluator_);
      return of.work() / "said";
    };
    append_to_file(begin_attempt(1), "first");
    append_to_file(begin_attempt(2), "second");
    const fs::path said = begin_attempt(3);
    EXPECT_EQ(fs::exists(said), one.is_shared) << one.text;
    if (!one.is_shared) {
      EXPECT_EQ(read_file(said.string() + ".1"), "first");
      EXPECT_EQ(read_file(said.string() + ".2"), "second");
    }
  }
}

}  // namespace
}  // namespace bench::space
