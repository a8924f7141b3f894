#include "bench_program.hpp"
#include "preload.hpp"
#include "support/eventually.hpp"

#include <string>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <bench/base/process.hpp>

namespace bench::end_to_end {
namespace {

using support::eventually;
using testing::HasSubstr;

/// Every workpackage waits for the file `go`.
constexpr const char* patient = R"(name: patient
outpath: runs
parameterset: {name: sweep, parameter: {n: [1, 2, 3]}}
step:
  - {name: compute, use: sweep, procs: 1, do: 'touch ../../../started; while test -e ../../../started -a ! -e ../../../go; do sleep 0.05; done; echo "value=$n"'}
patternset: {name: found, pattern: {name: value, type: int, _: value=$jube_pat_int}}
analyser: {name: output, use: found, analyse: {step: compute, file: stdout}}
result: {use: output, table: {name: t, style: csv, sort: n, column: [n, value]}}
)";
constexpr const char* patient_table = "n,value\n1,1\n2,2\n3,3\n\n";

struct Kind {
  std::string name;
  std::string magic;  ///< What statfs reports, in hexadecimal.
  bool has_log;       ///< SQLite's write-ahead log is safe there.
};

class FileSystemTest : public testing::Test {
 protected:
  void SetUp() override { here_.write("p.yaml", patient); }

  /// Makes everything in the playground look as if it were on a file system of this kind.
  Environment disguise(const std::string& magic) const {
    return {{"LD_PRELOAD", preload(FAKE_FILE_SYSTEM_LIBRARY)},
            {"FAKE_FILE_SYSTEM", here_.path().string()},
            {"FAKE_FILE_SYSTEM_TYPE", magic}};
  }
  Environment without_locks() const {
    Environment environment = disguise("0bd00bd0");
    environment.emplace_back("FAKE_FILE_SYSTEM_WITHOUT_LOCKS", "1");
    return environment;
  }

  Environment refusing(const std::string& what) const {
    Environment environment = disguise("ef53");
    environment.emplace_back("FAKE_FILE_SYSTEM_" + what, "1");
    return environment;
  }

  /// What only a write-ahead log leaves beside the database.
  bool has_log() const {
    return here_.has("runs/000000/workspace.db-wal") || here_.has("runs/000000/workspace.db-shm");
  }

  Playground here_;
};

class KindTest : public FileSystemTest, public testing::WithParamInterface<Kind> {};

TEST_P(KindTest, ARunIsKilledContinuedAndShown) {
  const Environment there = disguise(GetParam().magic);
  {
    Process run(here_.spec({"run", "p.yaml"}, there));
    ASSERT_TRUE(eventually([&] { return here_.has("runs/started"); }));
    EXPECT_EQ(has_log(), GetParam().has_log);
    ::kill(run.pid(), SIGKILL);
    run.wait();
  }
  EXPECT_EQ(has_log(), GetParam().has_log);
  EXPECT_EQ(here_.bench({"status", "runs"}, there).standard_output, "stopped\n");
  here_.write("runs/go", "");
  const auto again = here_.bench({"continue", "runs"}, there);
  EXPECT_EQ(again.status.code, 0) << again.standard_error;
  EXPECT_EQ(here_.bench({"result", "runs"}, there).standard_output, patient_table);
  EXPECT_FALSE(has_log()) << "the run is one file now";
}

INSTANTIATE_TEST_SUITE_P(FileSystems, KindTest,
                         testing::Values(Kind{"Ext4", "ef53", true}, Kind{"Nfs", "6969", false},
                                         Kind{"Lustre", "0bd00bd0", false},
                                         Kind{"Gpfs", "47504653", false},
                                         Kind{"Unheard", "12345678", false}),
                         [](const auto& one) { return one.param.name; });

TEST_F(FileSystemTest, ReadersAreAnsweredWhereThereIsNoLog) {
  const Environment there = disguise("6969");
  Process run(here_.spec({"run", "p.yaml"}, there));
  ASSERT_TRUE(eventually([&] { return here_.has("runs/started"); }));
  EXPECT_EQ(here_.bench({"status", "runs"}, there).standard_output, "running\n");
  const auto result = here_.bench({"result", "runs"}, there);
  EXPECT_EQ(result.standard_output, "n,value\n1,\n2,\n3,\n\n") << result.standard_error;
  here_.write("runs/go", "");
  EXPECT_EQ(run.wait().code, 0);
  EXPECT_EQ(here_.bench({"status", "runs"}, there).standard_output, "finished\n");
}

TEST_F(FileSystemTest, ACommitWaitsForAReaderWhereThereIsNoLog) {
  const Environment there = disguise("6969");
  Process run(here_.spec({"run", "p.yaml"}, there));
  ASSERT_TRUE(eventually([&] { return here_.has("runs/started"); }));
  {
    SQLite::Database reader((here_.path() / "runs/000000/workspace.db").string());
    SQLite::Transaction transaction(reader);
    ASSERT_EQ(reader.execAndGet("SELECT count(*) FROM workpackage").getInt(), 3);
    here_.write("runs/go", "");
    ::sleep(12);  // longer than another bench would wait
  }
  EXPECT_EQ(run.wait().code, 0);
  EXPECT_EQ(here_.bench({"result", "runs"}, there).standard_output, patient_table);
}

TEST_F(FileSystemTest, NoRunIsMadeWhereNothingCanBeLocked) {
  const auto run = here_.bench({"run", "p.yaml"}, without_locks());
  EXPECT_EQ(run.status.code, 1);
  EXPECT_EQ(run.standard_error,
            "error: cannot lock " + (here_.path() / "runs/000000/workspace.lock").string() +
                ": Function not implemented\n"
                "hint: a file system without locks, such as Lustre mounted without `-o flock`, can "
                "hold runs to look at, but none is made or continued there; choose another "
                "outpath\n");
  EXPECT_FALSE(here_.has("runs/000000"));
}

TEST_F(FileSystemTest, ARunIsShownButNotContinuedWhereNothingCanBeLocked) {
  here_.write("runs/go", "");
  ASSERT_EQ(here_.bench({"run", "p.yaml"}).status.code, 0);
  EXPECT_EQ(here_.bench({"status", "runs"}, without_locks()).standard_output, "finished\n");
  const auto result = here_.bench({"result", "runs"}, without_locks());
  EXPECT_EQ(result.standard_output, patient_table);
  EXPECT_EQ(result.standard_error,
            "note: this run cannot be locked, so this analysis is shown but not saved\n");
  const auto again = here_.bench({"continue", "runs"}, without_locks());
  EXPECT_EQ(again.status.code, 1);
  EXPECT_THAT(again.standard_error, HasSubstr("error: cannot lock "));
  EXPECT_EQ(here_.bench({"continue", "runs"}).status.code, 0);
}

TEST_F(FileSystemTest, AnOwnRunIsAnalysedAndShownWhereItCannotBeWritten) {
  here_.write("runs/go", "");
  ASSERT_EQ(here_.bench({"run", "p.yaml"}).status.code, 0);
  for (const auto& [what, note] : {std::pair{"READ_ONLY",
                                             "note: cannot write in runs/000000: Read-only file "
                                             "system, so this analysis is shown but not saved\n"},
                                   {"FULL",
                                    "database or disk is full, so this analysis is shown but not "
                                    "saved\n"}}) {
    const auto result = here_.bench({"result", "runs"}, refusing(what));
    EXPECT_EQ(result.status.code, 0) << what;
    EXPECT_EQ(result.standard_output, patient_table) << what;
    EXPECT_THAT(result.standard_error, HasSubstr(note));
  }
  ASSERT_EQ(here_.bench({"result", "runs"}).standard_error, "");
  const auto analysed = here_.bench({"result", "runs"}, refusing("FULL"));
  EXPECT_EQ(analysed.status.code, 1);  // the table's file is a result, too
  EXPECT_EQ(analysed.standard_output, patient_table);
  EXPECT_THAT(analysed.standard_error, HasSubstr("result/t.dat: No space left on device\n"));
}

TEST_F(FileSystemTest, ARunThatCannotBeginOnAFullDiskLeavesNothing) {
  const auto run = here_.bench({"run", "p.yaml"}, refusing("FULL"));
  EXPECT_EQ(run.status.code, 1);
  EXPECT_THAT(run.standard_error, HasSubstr("error: cannot make the workspace "));
  EXPECT_FALSE(here_.has("runs/000000"));
}

TEST_F(FileSystemTest, ARunIsRemovedFromAFullDisk) {
  here_.write("runs/go", "");
  ASSERT_EQ(here_.bench({"run", "p.yaml"}).status.code, 0);
  here_.write("runs/000001/workspace.lock", "");  // what a killed bench leaves
  for (const char* id : {"000001", "000000"}) {
    const auto removal = here_.bench({"remove", "runs", "--force"}, refusing("FULL"));
    EXPECT_EQ(removal.status.code, 0) << removal.standard_error;
    EXPECT_FALSE(here_.has(std::string("runs/") + id));
  }
}

}  // namespace
}  // namespace bench::end_to_end
