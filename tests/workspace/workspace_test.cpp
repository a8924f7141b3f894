#include "support/error_of.hpp"
#include "support/temp_directory.hpp"
#include "workspace/fixture.hpp"

#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/outcome.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::workspace {
namespace {

namespace fs = std::filesystem;
using support::error_of;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

TEST_F(WorkspaceFixture, KeepsFacts) {
  workspace_.set_fact("comment", "first");
  workspace_.set_fact("comment", "größer, 'quoted'");
  EXPECT_EQ(workspace_.fact("comment"), "größer, 'quoted'");
  EXPECT_THAT(workspace_.facts(),
              ElementsAre(Pair("benchmark", "demo"), Pair("comment", "größer, 'quoted'")));
  EXPECT_EQ(error_of([&] { workspace_.fact("colour"); }), "error: the workspace knows no 'colour'");
}

// A run without any would pass for a finished one.
TEST(Workspace, HasItsFirstWorkpackagesFromTheMomentOnAtWhichItCanBeSeen) {
  const support::TempDirectory directory;
  Workpackage first;
  first.step = "run";
  first.directory = "d0";
  const std::string twice = error_of([&] {
    Workspace::create(directory.path(), {}, {Expanded{{}, {first, first}}});
  });
  EXPECT_TRUE(twice.starts_with("error: the workspace ")) << twice;
  EXPECT_FALSE(fs::exists(directory.path() / "workspace.db"));
  const support::TempDirectory another;
  const Workspace made = Workspace::create(another.path(), {}, {Expanded{{}, {first}}});
  EXPECT_EQ(made.workpackages().size(), 1U);
}

TEST_F(WorkspaceFixture, GivesAWorkpackageBackAsItWas) {
  Workpackage made = workpackage(1, "train");
  made.iteration = 2;
  made.combination = 5;
  made.parents = {0};
  made.parameters = {{"z", "1"}, {"a", "two\nlines, \"quoted\""}, {"empty", ""}};
  add(0, State::done);
  workspace_.replay({Expanded{{0}, {made}}});
  const Workpackage read = workspace_.workpackage(1);
  EXPECT_EQ(read.step, "train");
  EXPECT_EQ(read.iteration, 2);
  EXPECT_EQ(read.combination, 5);
  EXPECT_THAT(read.parents, ElementsAre(0));
  EXPECT_EQ(read.parameters, made.parameters) << "in the order of expansion";
  EXPECT_EQ(read.directory, "d1");
  EXPECT_EQ(read.state, State::ready);
  EXPECT_FALSE(read.expanded);
  EXPECT_TRUE(workspace_.workpackage(0).expanded);
  EXPECT_EQ(error_of([&] { workspace_.workpackage(2); }), "error: there is no workpackage 2");
}

TEST_F(WorkspaceFixture, GivesEachWorkpackageItsParents) {
  std::vector<Workpackage> made;
  for (long long id = 0; id < 5; ++id)
    made.push_back(workpackage(id));
  made[3].parents = {2, 0};
  made[4].parents = {3};
  workspace_.replay({Expanded{{}, made}});
  const auto all = workspace_.workpackages();
  EXPECT_THAT(all.at(1).parents, IsEmpty());
  EXPECT_THAT(all.at(3).parents, ElementsAre(0, 2));
  EXPECT_THAT(all.at(4).parents, ElementsAre(3));
}

TEST_F(WorkspaceFixture, ReplacesBytesThatNoTextMayHold) {
  Workpackage made = workpackage(0);
  made.parameters = {{"a", "\xff!"}};
  workspace_.replay({Expanded{{}, {made}}});
  EXPECT_EQ(workspace_.workpackage(0).parameters[0].second, "\uFFFD!");
}

TEST_F(WorkspaceFixture, CountsPerStepInOrderOfTheFirstWorkpackage) {
  add(0, State::done, "second_by_name");
  add(1, State::failed, "a");
  add(2, State::ready, "a");
  add(3, State::running, "a");
  add(4, State::submitted, "a");
  const auto counts = workspace_.counts();
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts[0].step, "second_by_name");
  EXPECT_EQ(counts[0].done, 1);
  EXPECT_EQ(counts[1].all(), 4);
  EXPECT_EQ(counts[1].failed + counts[1].ready + counts[1].running + counts[1].submitted, 4);
}

TEST_F(WorkspaceFixture, KeepsFindingsOfEveryKind) {
  add(0, State::done);
  const std::vector<Finding> findings{
      {.workpackage = 0, .name = "absent", .absent_reason = "no power source"},
      {.workpackage = 0, .name = "empty", .value = ""},
      {.workpackage = 0, .name = "inf", .value = HUGE_VAL},
      {.workpackage = 0, .name = "integer", .value = 9223372036854775807LL, .unit = "B"},
      {.workpackage = 0, .name = "real", .value = 2.0, .unit = "Wh", .estimated = true},
      {.workpackage = 0, .name = "text", .value = "7"}};
  replace_findings(workspace_, "a", findings);
  EXPECT_EQ(workspace_.findings("a"), findings);
  EXPECT_THAT(workspace_.findings("b"), IsEmpty());
  EXPECT_EQ(workspace_.findings("a", {"real", "none", "inf"}),
            (std::vector<Finding>{findings[2], findings[4]}));
}

TEST_F(WorkspaceFixture, KnowsTheNamesOfFindingsAndWhichHaveANumberAboveAnother) {
  add(0, State::done);
  add(1, State::done);
  replace_findings(workspace_, "a",
                   {{.workpackage = 0, .name = "absent", .absent_reason = "no power source"},
                    {.workpackage = 0, .name = "n_cnt", .value = 1LL},
                    {.workpackage = 1, .name = "n_cnt", .value = 2LL},
                    {.workpackage = 0, .name = "one", .value = 1.0},
                    {.workpackage = 0, .name = "text", .value = "7"}});
  EXPECT_THAT(workspace_.found_names("a"), ElementsAre("absent", "n_cnt", "one", "text"));
  EXPECT_THAT(workspace_.found_names("a", 1), ElementsAre("n_cnt"));
  EXPECT_THAT(workspace_.found_names("b"), IsEmpty());
}

// SQLite has no NaN: without care the value would come back as absent.
TEST_F(WorkspaceFixture, KeepsANumberThatIsNone) {
  add(0, State::done);
  replace_findings(workspace_, "a", {{.workpackage = 0, .name = "x", .value = std::nan("")}});
  const auto value = workspace_.findings("a").at(0).value;
  ASSERT_TRUE(value);
  EXPECT_TRUE(std::isnan(std::get<double>(*value)));
}

TEST_F(WorkspaceFixture, ReplacesTheFindingsOfOneAnalyserOnly) {
  add(0, State::done);
  replace_findings(workspace_, "a", {{.workpackage = 0, .name = "old", .value = 1LL}});
  replace_findings(workspace_, "b", {{.workpackage = 0, .name = "other", .value = 2LL}});
  replace_findings(workspace_, "a", {{.workpackage = 0, .name = "new", .value = 3LL}});
  ASSERT_EQ(workspace_.findings("a").size(), 1U);
  EXPECT_EQ(workspace_.findings("a")[0].name, "new");
  EXPECT_EQ(workspace_.findings("b").size(), 1U);
}

TEST_F(WorkspaceFixture, AnAnalysisIsOutOfDateOnceAnotherWorkpackageEnds) {
  add(0, State::done);
  add(1, State::running);
  EXPECT_FALSE(workspace_.analysed("a"));
  replace_findings(workspace_, "a", {});
  EXPECT_TRUE(workspace_.analysed("a"));
  EXPECT_FALSE(workspace_.analysed("b"));
  workspace_.replay({ended(1, Outcome::failed)});
  EXPECT_FALSE(workspace_.analysed("a"));
}

// As many have ended as before, so that counting them would not tell.
TEST_F(WorkspaceFixture, AnAnalysisIsOutOfDateOnceAWorkpackageIsMadeAgain) {
  add(0, State::done);
  replace_findings(workspace_, "a", {{.workpackage = 0, .name = "x", .value = 1LL}});
  workspace_.replay({Reset{{0}}});
  workspace_.replay({claim(0, "second")});
  workspace_.replay({ended(0, Outcome::done)});
  EXPECT_FALSE(workspace_.analysed("a"));
}

TEST_F(WorkspaceFixture, ForgetsWhatWasFoundInWorkpackagesThatAreMadeAgainOrRemoved) {
  for (long long id = 0; id < 4; ++id)
    add(id, State::done);
  std::vector<Finding> findings;
  for (long long id = 0; id < 4; ++id)
    findings.push_back({.workpackage = id, .name = "x", .value = id});
  replace_findings(workspace_, "a", findings);
  workspace_.replay({Reset{{1}}, Removed{{2, 3}}});
  EXPECT_EQ(workspace_.findings("a"), std::vector<Finding>{findings[0]});
  EXPECT_THAT(workspace_.workpackages(), SizeIs(2));
  EXPECT_THAT(workspace_.attempts(), SizeIs(2));
}

TEST_F(WorkspaceFixture, ShowsAReaderWhatTheWriterHasWritten) {
  add(0, State::ready);
  {
    const Workspace reader = Workspace::open(directory_.path(), Workspace::Access::read);
    workspace_.replay({claim(0)});
    EXPECT_EQ(reader.workpackage(0).state, State::running);
    workspace_.replay({ended(0, Outcome::done)});
    EXPECT_EQ(reader.workpackage(0).state, State::done);
  }
  EXPECT_EQ(Workspace::open(directory_.path(), Workspace::Access::read).fact("benchmark"), "demo");
}

TEST_F(WorkspaceFixture, LetsNoReaderWrite) {
  Workspace reader = Workspace::open(directory_.path(), Workspace::Access::read);
  const std::string said = error_of([&] { reader.set_fact("a", "b"); });
  EXPECT_TRUE(said.find("attempt to write a readonly database") != std::string::npos) << said;
}

/// A workspace that was written and closed.
class ClosedWorkspace : public testing::Test {
 protected:
  ClosedWorkspace() {
    Workspace workspace =
        Workspace::create(directory_.path(), {{"input_sha256", "abc"}, {"platform", "local"}});
    Workpackage made;
    made.step = "run";
    made.parameters = {{"n", "4"}};
    workspace.replay({Expanded{{}, {made}}});
    workspace.replay({Claimed{.workpackage = 0, .uuid = "u", .host = "node1"}});
    workspace.replay({Ended{.workpackage = 0,
                            .attempt = {.outcome = Outcome::done, .exit_code = 0},
                            .environment = {}}});
    replace_findings(
        workspace, "a",
        {{.workpackage = 0, .name = "energy_wh", .absent_reason = "no power source"},
         {.workpackage = 0, .name = "rate", .value = 2.5, .unit = "img/s", .estimated = true},
         {.workpackage = 0, .name = "note", .value = "x"}});
  }

  SQLite::Database plain(int flags = SQLite::OPEN_READONLY) const {
    return {file_.string(), flags};
  }

  support::TempDirectory directory_;
  fs::path file_ = directory_.path() / "workspace.db";
};

TEST_F(ClosedWorkspace, IsOneFile) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory_.path()))
    names.push_back(entry.path().filename().string());
  EXPECT_THAT(names, ElementsAre("workspace.db"));
}

TEST_F(ClosedWorkspace, HasAViewOfItsResultsForAnySqlite) {
  SQLite::Database database = plain();
  SQLite::Statement row(database,
                        "SELECT analyser, workpackage, step, state, parameters, findings, absent, "
                        "estimated, host, exit_code, input_sha256, platform, cpu FROM results");
  ASSERT_TRUE(row.executeStep());
  std::string text;
  for (int k = 0; k < row.getColumnCount(); ++k)
    text += row.getColumn(k).getString() + "|";
  EXPECT_EQ(text,
            R"(a|0|run|done|{"n":"4"}|{"rate":2.5,"note":"x"}|{"energy_wh":"no power source"}|1|)"
            "node1|0|abc|local||");
  EXPECT_FALSE(row.executeStep());
}

TEST_F(ClosedWorkspace, IsNotMadeAgain) {
  EXPECT_EQ(error_of([&] { Workspace::create(directory_.path(), {}); }),
            "error: cannot make the workspace " + file_.string() + ": it exists");
  EXPECT_EQ(Workspace::open(directory_.path(), Workspace::Access::read).fact("platform"), "local");
}

TEST_F(ClosedWorkspace, OfAnotherFormatIsRefusedWithTheBenchThatWroteIt) {
  plain(SQLite::OPEN_READWRITE)
      .exec("INSERT INTO fact VALUES ('bench_version', '0.9.7'); PRAGMA user_version=1000");
  for (const auto access : {Workspace::Access::read, Workspace::Access::write})
    EXPECT_THAT(
        error_of([&] { Workspace::open(directory_.path(), access); }),
        testing::MatchesRegex("error: .*workspace.db has format 1000, written by bench 0.9.7; this "
                              "is bench [0-9.]+, which reads format [0-9]+\n"
                              "hint: read it with that version of bench, or a newer one"));
  plain(SQLite::OPEN_READWRITE).exec("PRAGMA user_version=1");
  EXPECT_THAT(error_of([&] { Workspace::open(directory_.path(), Workspace::Access::write); }),
              testing::HasSubstr("hint: read it with the bench that wrote it, or run the benchmark "
                                 "again with this one"));
}

/// Bytes 18 and 19 of the header: 2 stands for the write-ahead log
/// (https://www.sqlite.org/fileformat.html).
void set_wal_mode(const fs::path& file) {
  std::string content = read_file(file);
  content[18] = content[19] = 2;
  write_file_atomically(file, content);
}

TEST(Workspace, RefusesADirectoryWithoutOne) {
  const support::TempDirectory directory;
  EXPECT_EQ(error_of([&] { Workspace::open(directory.path(), Workspace::Access::read); }),
            "error: there is no workspace in " + directory.path().string());
}

TEST(Workspace, RefusesADatabaseOfSomebodyElse) {
  const support::TempDirectory directory;
  const std::string file = (directory.path() / "workspace.db").string();
  SQLite::Database(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE t (x)");
  EXPECT_EQ(error_of([&] { Workspace::open(directory.path(), Workspace::Access::read); }),
            "error: " + file + " is not a workspace of bench");
}

TEST(Workspace, RefusesAFileThatIsNoDatabase) {
  const support::TempDirectory directory;
  const std::string file =
      directory.write("workspace.db", "this is text, and more than a header").string();
  EXPECT_EQ(error_of([&] { Workspace::open(directory.path(), Workspace::Access::write); }),
            "error: cannot open the workspace " + file + ": file is not a database");
}

// As in another user's run: beside the database nothing can be made.
TEST(Workspace, IsReadWhereTheLogCannotBeShared) {
  const support::TempDirectory directory;
  const fs::path odd = directory.path() / "50%25 #1?";  // characters that a URI would misread
  fs::create_directories(odd / "workspace.db-shm");
  { Workspace::create(directory.path(), {{"a", "b"}}); }
  fs::rename(directory.path() / "workspace.db", odd / "workspace.db");
  set_wal_mode(odd / "workspace.db");
  EXPECT_EQ(Workspace::open(odd, Workspace::Access::read).fact("a"), "b");
}

// As on a file system without a write-ahead log: what was changed is in the file already, what it
// was before is in the journal.
TEST(Workspace, IsReadAsItWasBeforeAWriterWasKilledWithinATransaction) {
  const support::TempDirectory directory;
  const support::TempDirectory killed;
  { Workspace::create(directory.path(), {{"a", "b"}}); }
  SQLite::Database writer((directory.path() / "workspace.db").string(), SQLite::OPEN_READWRITE);
  writer.exec("PRAGMA journal_mode=TRUNCATE");
  writer.exec("PRAGMA cache_size=1");
  const SQLite::Transaction transaction(writer, SQLite::TransactionBehavior::IMMEDIATE);
  writer.exec("UPDATE fact SET value = 'half'");
  writer.exec(
      "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 500) "
      "INSERT INTO fact SELECT 'name ' || n, hex(randomblob(500)) FROM number");
  for (const char* file : {"workspace.db", "workspace.db-journal"})
    fs::copy_file(directory.path() / file, killed.path() / file);
  ASSERT_NE(read_file(killed.path() / "workspace.db").find("half"), std::string::npos);
  const Workspace reader = Workspace::open(killed.path(), Workspace::Access::read);
  EXPECT_EQ(reader.facts(), (std::map<std::string, std::string>{{"a", "b"}}));
}

TEST(Workspace, WaitsForNoReaderWhenItIsClosed) {
  const support::TempDirectory directory;
  std::optional<Workspace> writer = Workspace::create(directory.path(), {{"a", "b"}});
  const Workspace reader = Workspace::open(directory.path(), Workspace::Access::read);
  EXPECT_EQ(reader.fact("a"), "b");
  const auto begin = std::chrono::steady_clock::now();
  writer.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(4));
  EXPECT_EQ(reader.fact("a"), "b");
}

}  // namespace
}  // namespace bench::workspace
