#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bench/base/files.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::workspace {
namespace {

namespace fs = std::filesystem;
using support::error_of;
using testing::ElementsAre;

TEST(Padded, HasAtLeastSixDigits) {
  EXPECT_EQ(padded(3), "000003");
  EXPECT_EQ(padded(1234567), "1234567");
}

/// Runs 0, 2 and 10, and things that are none.
class Outpath : public testing::Test {
 protected:
  Outpath() {
    for (const char* run : {"000000", "000002", "000010"})
      directory_.write(std::string(run) + "/workspace.db", "");
    fs::create_directory(outpath_ / "000012");  // no workspace yet
    fs::create_directory(outpath_ / "000099_old");
    directory_.write("000100", "a file");
  }

  std::vector<int> ids(const std::vector<std::string>& words) const {
    std::vector<int> selected;
    for (const RunDirectory& run : select_runs(outpath_, words))
      selected.push_back(run.id);
    return selected;
  }

  support::TempDirectory directory_;
  fs::path outpath_ = directory_.path();
};

TEST_F(Outpath, FindsRunsById) {
  const auto runs = find_runs(outpath_);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[2].id, 10);
  EXPECT_EQ(runs[2].path, outpath_ / "000010");
}

TEST_F(Outpath, TheNextIdIsBeyondEveryNumberedDirectory) {
  EXPECT_EQ(next_run_id(outpath_), 13);
  EXPECT_EQ(next_run_id(outpath_ / "nowhere"), 0);
}

struct RunDirectoryCase {
  std::string name;
  std::vector<std::string> words;
  std::vector<int> ids;
};

TEST_F(Outpath, SelectsRunsByWords) {
  const std::vector<RunDirectoryCase> cases{{"no word", {}, {10}},
                                            {"last", {"last"}, {10}},
                                            {"all", {"2", "all"}, {0, 2, 10}},
                                            {"number", {"2"}, {2}},
                                            {"padded number", {"000002"}, {2}},
                                            {"newest", {"-1"}, {10}},
                                            {"oldest", {"-3"}, {0}},
                                            {"ascending, each once", {"10", "0", "-1"}, {0, 10}}};
  for (const RunDirectoryCase& one : cases)
    EXPECT_EQ(ids(one.words), one.ids) << one.name;
}

TEST_F(Outpath, RefusesWordsThatSelectNothing) {
  const std::string in = outpath_.string();
  EXPECT_EQ(error_of([&] { ids({"first"}); }),
            "error: 'first' is not a run id\nhint: a number, -1 for the newest, last or all");
  for (const std::string word : {"1", "12", "-4"})
    EXPECT_EQ(error_of([&] { ids({word}); }),
              "error: there is no run " + word + " in " + in + "\nhint: the runs there: 0, 2, 10");
}

TEST_F(Outpath, RefusesAWrongWordBesideAll) {
  EXPECT_EQ(error_of([&] {
              ids({"all", "lst"});
            }),
            "error: 'lst' is not a run id\nhint: did you mean 'last'?");
}

TEST_F(Outpath, CountsBackNoFurtherThanNumbersReach) {
  EXPECT_EQ(error_of([&] { ids({"-9223372036854775808"}); }),
            "error: there is no run -9223372036854775808 in " + outpath_.string() +
                "\nhint: the runs there: 0, 2, 10");
}

TEST_F(Outpath, SaysWhatWasMeantByAWordThatIsNoId) {
  EXPECT_EQ(error_of([&] { ids({"lst"}); }),
            "error: 'lst' is not a run id\nhint: did you mean 'last'?");
  EXPECT_EQ(
      error_of([&] { ids({"0-3"}); }),
      "error: '0-3' is not a run id\nhint: ranges are not supported; list the ids, or write all");
  EXPECT_EQ(error_of([&] {
              ids({"0", outpath_.string()});
            }),
            "error: '" + outpath_.string() +
                "' is not a run id\nhint: put the directory in front of -i, or `--` between them");
}

TEST_F(Outpath, ListsNoMoreThanTheEndsOfManyIds) {
  for (int id = 11; id < 30; ++id)
    directory_.write(padded(id) + "/workspace.db", "");
  EXPECT_EQ(error_of([&] { ids({"99"}); }), "error: there is no run 99 in " + outpath_.string() +
                                                "\nhint: the runs there: 0 to 29, 22 in all");
}

TEST_F(Outpath, IsARunItself) {
  const auto runs = select_runs(outpath_ / "000002", {});
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].id, 2);
  EXPECT_EQ(select_runs((outpath_ / "000002").string() + "/", {}).at(0).id, 2);
  EXPECT_EQ(select_runs(outpath_ / "000002", {"all"}).at(0).id, 2);
  EXPECT_EQ(error_of([&] { select_runs(outpath_ / "000002", {"0"}); }),
            "error: there is no run 0 in " + (outpath_ / "000002").string() +
                "\nhint: the runs there: 2");
}

TEST_F(Outpath, RefusesADirectoryWithoutRuns) {
  const std::string empty = (outpath_ / "000012").string();
  EXPECT_EQ(error_of([&] { select_runs(empty, {}); }),
            "error: there is no run in " + empty +
                "\nhint: give the benchmark's outpath, or start one with `bench run FILE`");
}

TEST_F(Outpath, IsNamedWhereTheDirectoryAroundItWasGiven) {
  const support::TempDirectory around;
  around.write("sweep_run/000000/workspace.db", "");
  around.write("training_run/000000/workspace.db", "");
  around.write("notes/000000", "");
  const std::string here = around.path().string();
  EXPECT_EQ(error_of([&] { select_runs(here, {}); }), "error: there is no run in " + here +
                                                          "\nhint: the runs are in " + here +
                                                          "/sweep_run, " + here + "/training_run");
}

TEST_F(Outpath, RefusesWhatIsNoDirectory) {
  EXPECT_EQ(error_of([&] { select_runs(outpath_ / "nowhere", {}); }),
            "error: " + (outpath_ / "nowhere").string() +
                " is not a directory\nhint: give the benchmark's outpath, where its runs are");
}

TEST_F(Outpath, MakesTheNextRunOrTheWantedOne) {
  EXPECT_EQ(make_run_directory(outpath_, std::nullopt).path, outpath_ / "000013");
  EXPECT_EQ(make_run_directory(outpath_, 5).path, outpath_ / "000005");
  EXPECT_EQ(make_run_directory(outpath_ / "a/b", std::nullopt).id, 0);
  EXPECT_EQ(error_of([&] { make_run_directory(outpath_, 2); }),
            "error: run 2 exists already: " + (outpath_ / "000002").string() +
                "\nhint: choose another id, or leave it out for the next free one");
}

TEST_F(Outpath, GivesEachOfManyAnIdOfItsOwn) {
  std::vector<int> taken(8);
  {
    std::vector<std::jthread> makers;
    for (int& id : taken)
      makers.emplace_back([&] { id = make_run_directory(outpath_ / "new", std::nullopt).id; });
  }
  std::ranges::sort(taken);
  EXPECT_THAT(taken, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

/// As another user, where the tests run as root, whom no permission stops.
class AsSomebodyElse {
 public:
  AsSomebodyElse() {
    constexpr uid_t somebody = 65534;
    if (::geteuid() == 0)
      was_root_ = ::seteuid(somebody) == 0;
  }
  AsSomebodyElse(const AsSomebodyElse&) = delete;
  AsSomebodyElse& operator=(const AsSomebodyElse&) = delete;
  ~AsSomebodyElse() {
    if (was_root_ && ::seteuid(0) != 0)
      std::abort();
  }

 private:
  bool was_root_ = false;
};

/// Takes away all permissions, and gives them back.
class Closed {
 public:
  explicit Closed(fs::path directory) : directory_(std::move(directory)) {
    fs::permissions(directory_, fs::perms::none);
  }
  Closed(const Closed&) = delete;
  Closed& operator=(const Closed&) = delete;
  ~Closed() { fs::permissions(directory_, fs::perms::owner_all); }

 private:
  fs::path directory_;
};

TEST_F(Outpath, ThatMayNotBeReadIsNotAnEmptyOne) {
  const Closed closed(outpath_);
  const AsSomebodyElse other;
  for (const fs::path& directory : {outpath_, outpath_ / "000002"})
    EXPECT_EQ(error_of([&] { select_runs(directory, {}); }),
              "error: cannot read directory " + directory.string() +
                  ": Permission denied\nhint: its owner has to let you read it");
}

TEST_F(Outpath, ARunThatMayNotBeReadIsOne) {
  fs::permissions(outpath_, fs::perms(0755));
  const Closed closed(outpath_ / "000010");
  const AsSomebodyElse other;
  EXPECT_THAT(ids({"all"}), ElementsAre(0, 2, 10));
  EXPECT_THAT(error_of([&] { Workspace::open(outpath_ / "000010", Workspace::Access::read); }),
              testing::HasSubstr("000010/workspace.db: Permission denied"));
}

/// SQLite takes 512 bytes with its suffixes, the system 4096.
TEST(LongPath, IsRefusedBeforeAnythingIsMade) {
  const support::TempDirectory directory;
  fs::path outpath = directory.path();
  while (outpath.string().size() < 600)
    outpath /= std::string(100, 'x');
  EXPECT_THAT(error_of([&] { make_run_directory(outpath, std::nullopt); }),
              testing::MatchesRegex("error: the path of .*/000000/workspace.db.new has [67][0-9]+ "
                                    "bytes, and SQLite takes at most 504\nhint: select .*"));
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST(LongPath, OfARunThatWasMovedIsNamed) {
  const support::TempDirectory directory;
  fs::path run = directory.path();
  while (run.string().size() < 600)
    run /= std::string(100, 'x');
  fs::create_directories(run);
  write_file_atomically(run / "workspace.db", "");
  EXPECT_THAT(error_of([&] { Workspace::open(run, Workspace::Access::read); }),
              testing::HasSubstr("bytes, and SQLite takes at most 504"));
}

}  // namespace
}  // namespace bench::workspace
