#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bench/base/files.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::workspace {
namespace {

namespace fs = std::filesystem;
using support::error_of;
using testing::HasSubstr;
using Access = Workspace::Access;

/// The workspace of a run that somebody has changed, or made, to do harm.
class HostileWorkspace : public testing::Test {
 protected:
  HostileWorkspace() {
    Workspace workspace = Workspace::create(directory_.path(), {{"comment", "c"}});
    Workpackage first;
    first.step = "run";
    first.directory = "000000_run";
    workspace.replay({Expanded{{}, {first}}});
  }

  void execute(const std::string& statements) const {
    SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec(statements);
  }
  std::string error_of_reading() const {
    return error_of([&] {
      const Workspace workspace = Workspace::open(directory_.path(), Access::read);
      workspace.facts();
      workspace.workpackages();
    });
  }

  support::TempDirectory directory_;
  fs::path file_ = directory_.path() / "workspace.db";
};

struct ForeignSchema {
  std::string name;
  std::string statements;
  std::string object;  ///< What the error names.
};
class ForeignSchemaTest : public HostileWorkspace,
                          public testing::WithParamInterface<ForeignSchema> {};

TEST_P(ForeignSchemaTest, IsRefusedBeforeAnyRowIsRead) {
  execute(GetParam().statements);
  for (const Access access : {Access::read, Access::write})
    EXPECT_THAT(error_of([&] { Workspace::open(directory_.path(), access); }),
                HasSubstr("the tables of " + file_.string() +
                          " are not those that bench makes: " + GetParam().object));
}

INSTANTIATE_TEST_SUITE_P(
    Workspace, ForeignSchemaTest,
    testing::Values(
        ForeignSchema{"ViewInPlaceOfATable",
                      "ALTER TABLE fact RENAME TO old; CREATE VIEW fact AS SELECT * FROM old",
                      "its table 'old' is not"},
        ForeignSchema{"Trigger",
                      "CREATE TRIGGER harm AFTER UPDATE ON fact BEGIN DELETE FROM workpackage; END",
                      "its trigger 'harm' is not"},
        ForeignSchema{
            "GeneratedColumn",
            "ALTER TABLE fact ADD COLUMN bomb BLOB GENERATED ALWAYS AS (zeroblob(1000000000))",
            "its table 'fact' is not"},
        ForeignSchema{"IndexOnAnExpression",
                      "CREATE INDEX bomb ON workpackage (length(zeroblob(1000000)))",
                      "its index 'bomb' is not"},
        ForeignSchema{"NoTable", "DROP TABLE analysis", "something is missing"}),
    [](const auto& one) { return one.param.name; });

TEST_F(HostileWorkspace, NeitherLinksNorPipesAreOpened) {
  for (const char* name : {"workspace.db-journal", "workspace.db-wal", "workspace.db-shm"}) {
    const fs::path beside = directory_.path() / name;
    ASSERT_EQ(::mkfifo(beside.c_str(), 0666), 0);
    EXPECT_EQ(error_of_reading(), "error: " + beside.string() +
                                      " is not a regular file\n"
                                      "hint: bench follows no links to a workspace");
    fs::remove(beside);
  }
  fs::rename(file_, directory_.path() / "elsewhere");
  fs::create_symlink("elsewhere", file_);
  EXPECT_THAT(error_of_reading(), HasSubstr("workspace.db is not a regular file"));
  fs::remove(file_);
  ASSERT_EQ(::mkfifo(file_.c_str(), 0666), 0);
  EXPECT_THAT(error_of_reading(), HasSubstr("workspace.db is not a regular file"));
}

TEST_F(HostileWorkspace, ATruncatedDatabaseIsAnError) {
  fs::resize_file(file_, fs::file_size(file_) / 2);
  EXPECT_THAT(error_of_reading(), HasSubstr("malformed"));
}

TEST_F(HostileWorkspace, TheDirectoryOfAWorkpackageIsAName) {
  for (const char* name : {"../away", "/etc", "..", ".", "a/b"}) {
    execute("UPDATE workpackage SET directory = '" + std::string(name) + "'");
    EXPECT_THAT(error_of_reading(), HasSubstr("', is not in the run directory"));
  }
}

TEST_F(HostileWorkspace, ParametersAreAnObjectOfTexts) {
  for (const char* json :
       {"[]", "7", "\"text\"", "null", R"({"n":1})", R"({"n":-1})", R"({"n":1.5})", R"({"n":true})",
        R"({"n":null})", R"({"n":["1"]})", R"({"n":{"m":"1"}})"}) {
    execute("UPDATE workpackage SET parameters = '" + std::string(json) + "'");
    EXPECT_THAT(error_of_reading(),
                HasSubstr("parameters that are not an object of strings: " + std::string(json)));
  }
}

TEST_F(HostileWorkspace, RowsThatDoNotFitTheBenchmarkAreFound) {
  const auto check = [&] {
    Workspace workspace = Workspace::open(directory_.path(), Access::read);
    workspace.expect_steps({{"run", 2}});
    workspace.workpackages();
  };
  EXPECT_EQ(error_of(check), "(no error)");
  for (const char* change :
       {"UPDATE workpackage SET step = 'other'", "UPDATE workpackage SET command = 3",
        "UPDATE workpackage SET command = 2", "UPDATE workpackage SET cycle = -1",
        "UPDATE workpackage SET command = -1", "UPDATE workpackage SET state = 'running'",
        "UPDATE workpackage SET state = 'failed'", "INSERT INTO parent VALUES (0, 0)",
        "INSERT INTO parent VALUES (0, -5)"}) {
    const std::string before = read_file(file_);
    execute(change);
    EXPECT_EQ(error_of(check),
              "error: workpackage 0 does not fit the benchmark of its run\n"
              "hint: the workspace is damaged, or was not written by bench")
        << change;
    write_file_atomically(file_, before);
  }
}

TEST_F(HostileWorkspace, AJobIdIsNoOption) {
  execute(
      "INSERT INTO attempt (workpackage, number, uuid, host, job_id, claimed_unix_s) "
      "VALUES (0, 1, 'u', 'h', '--user=all', 0); UPDATE workpackage SET attempts = 1");
  const Workspace workspace = Workspace::open(directory_.path(), Access::read);
  EXPECT_THAT(error_of([&] { workspace.attempts(); }), HasSubstr("'--user=all' is not a job id"));
}

TEST_F(HostileWorkspace, TheLockIsNotTakenThroughALink) {
  const fs::path precious = directory_.write("precious", "keep me");
  fs::create_symlink("precious", directory_.path() / "workspace.lock");
  EXPECT_THAT(error_of([&] { WriterLock lock(directory_.path()); }), HasSubstr("cannot open"));
  EXPECT_EQ(read_file(precious), "keep me");
}

TEST_F(HostileWorkspace, ARunIsOnesOwnIfItsDirectoryAndItsDatabaseAre) {
  EXPECT_TRUE(is_own(directory_.path()));
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown(file_.c_str(), 65534, 65534), 0);
  EXPECT_FALSE(is_own(directory_.path()));
  ASSERT_EQ(::chown(file_.c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(directory_.path().c_str(), 65534, 65534), 0);
  EXPECT_FALSE(is_own(directory_.path()));
}

}  // namespace
}  // namespace bench::workspace
