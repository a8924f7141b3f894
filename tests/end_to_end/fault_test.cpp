// A run of which one call of the system fails, each in turn.
#include "bench_program.hpp"
#include "preload.hpp"
#include "support/eventually.hpp"
#include "support/source_directory.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

/// Files are copied and changed, scripts evaluated, and every command leaves a witness that does
/// not depend on what bench believes.
constexpr const char* witnessed_files = R"(name: witnessed
outpath: runs
parameterset: {name: sweep, parameter: [{n: [1, 2]}, {name: double, mode: python, _: 2 * $n}]}
fileset: {name: files, copy: input.txt}
substituteset: {name: numbers, iofile: {in: input.txt, out: out.txt}, sub: {source: "#N#", dest: $n}}
step:
  - {name: first, use: [sweep, files, numbers], procs: 2, do: ['cat out.txt', 'echo "first $n" >> $jube_benchmark_home/witness']}
  - {name: second, depend: first, procs: 2, do: 'echo "value=$double"; echo "second $n" >> $jube_benchmark_home/witness'}
patternset: {name: found, pattern: {name: value, type: int, _: value=$jube_pat_int}}
analyser: {name: output, use: found, analyse: {step: second, file: stdout}}
result: {use: output, table: {name: t, style: csv, sort: n, column: [n, double, value, jube_wp_id]}}
)";
constexpr const char* whole_table = "n,double,value,jube_wp_id\n1,2,2,2\n2,4,4,3\n\n";

struct FaultCase {
  std::string name;
  std::string fault;  ///< For tests/fake/faults.cpp.
  int first;          ///< The call to begin with: together the cases see most calls.
  bool stays = false;
  int times = 1;
};
class FaultTest : public testing::TestWithParam<FaultCase> {
 protected:
  static Environment environment(const Playground& here, const Environment& more) {
    Environment all{{"LD_PRELOAD", preload(FAULTS_LIBRARY)}, {"FAULT_ROOT", here.path().string()}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  static void write_input(const Playground& here) {
    here.write("w.yaml", witnessed_files);
    here.write("input.txt", "n is #N#\n");
  }

  /// Calls of a run in which none fails.
  static int calls() {
    const Playground here;
    const Playground elsewhere;
    write_input(here);
    const std::string counts = (elsewhere.path() / "calls").string();
    const auto run =
        here.bench({"run", "w.yaml", "--result"}, environment(here, {{"FAULT_COUNT", counts}}));
    EXPECT_EQ(run.status.code, 0) << run.standard_error;
    return std::stoi(elsewhere.read("calls"));
  }

  /// Lets a call fail and then goes on without.
  static void check(int call) {
    SCOPED_TRACE(testing::Message() << "call " << call);
    const Playground here;
    write_input(here);
    Environment faulty{{"FAULT_AT", std::to_string(call)}, {"FAULT", GetParam().fault}};
    faulty.emplace_back("FAULT_TIMES", std::to_string(GetParam().times));
    if (GetParam().stays) {
      faulty.emplace_back("FAULT_STAYS", "1");
      faulty.emplace_back("BENCH_PATIENCE_S", "0");
    }
    const auto run = here.bench({"run", "w.yaml", "--result"}, environment(here, faulty));
    EXPECT_EQ(run.status.signal, 0) << run.standard_error;
    if (run.status.code == 0) {
      EXPECT_THAT(run.standard_output, HasSubstr(whole_table));
    } else {
      EXPECT_FALSE(run.standard_error.empty());
    }

    const bool has_run = here.has("runs/000000/workspace.db");
    const auto again = here.bench(has_run ? std::vector<std::string>{"continue", "runs"}
                                          : std::vector<std::string>{"run", "w.yaml"});
    EXPECT_EQ(again.status.code, 0) << again.standard_error << run.standard_error;
    EXPECT_EQ(here.bench({"result", "runs"}).standard_output, whole_table) << run.standard_error;
    EXPECT_THAT(split_names(here.read("witness"), "\n"),
                UnorderedElementsAre("first 1", "first 2", "second 1", "second 2"))
        << "each ran once: " << run.standard_error;
  }
};

// BENCH_FAULT_CALLS=all lets each call fail, which takes minutes.
TEST_P(FaultTest, IsToldAndContinueFinishesOnceItIsGone) {
  const int all = calls();
  ASSERT_GT(all, 50);
  const char* const wanted = std::getenv("BENCH_FAULT_CALLS");
  const bool each = wanted && std::string(wanted) == "all";
  for (int call = each ? 1 : GetParam().first; call <= all; call += each ? 1 : 9)
    check(call);
}

INSTANTIATE_TEST_SUITE_P(
    Faults, FaultTest,
    testing::Values(FaultCase{"NoSpace", std::to_string(ENOSPC), 1},
                    FaultCase{"NoSpaceFromThenOn", std::to_string(ENOSPC), 2, true},
                    FaultCase{"InputOutputError", std::to_string(EIO), 3},
                    FaultCase{"PermissionLost", std::to_string(EACCES), 5},
                    FaultCase{"TooManyOpenFiles", std::to_string(EMFILE), 6},
                    FaultCase{"Interrupted", std::to_string(EINTR), 7},
                    FaultCase{"Disconnected", std::to_string(ENOTCONN), 9, false, 3},
                    FaultCase{"ShortWrites", "short", 8}),
    [](const auto& instance) { return instance.param.name; });

struct OutageCase {
  std::string name;
  int error;
};
class OutageTest : public testing::TestWithParam<OutageCase> {
 protected:
  OutageTest() {
    here_.write("w.yaml",
                "name: w\noutpath: runs\nparameterset: {name: s, parameter: {n: [1, 2, 3]}}\n"
                "step: {name: only, use: s, do: ['echo $n >> $jube_benchmark_home/witness', "
                "'echo then $n >> $jube_benchmark_home/witness']}\n");
  }
  /// The directories of the workpackages are away, beginning with the making of the first one.
  Environment outage() const {
    return {{"LD_PRELOAD", preload(FAULTS_LIBRARY)},
            {"FAULT_ROOT", (here_.path() / "runs/000000/00000").string()},
            {"FAULT_AT", "1"},
            {"FAULT", std::to_string(GetParam().error)}};
  }
  std::vector<std::string> witness() const { return split_names(here_.read("witness"), "\n"); }

  Playground here_;
};

TEST_P(OutageTest, OfAMomentIsWaitedOut) {
  Environment environment = outage();
  environment.emplace_back("FAULT_TIMES", "3");
  const auto run = here_.bench({"run", "w.yaml"}, environment);
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_THAT(run.standard_error, HasSubstr("; bench tries again for 1 min"));
  EXPECT_THAT(witness(), UnorderedElementsAre("1", "then 1", "2", "then 2", "3", "then 3"));
}

TEST_P(OutageTest, ThatLastsLeavesEverythingOpen) {
  Environment environment = outage();
  environment.emplace_back("FAULT_STAYS", "1");
  environment.emplace_back("BENCH_PATIENCE_S", "0.1");
  const auto run = here_.bench({"run", "w.yaml"}, environment);
  EXPECT_EQ(run.status.code, 1);
  EXPECT_THAT(run.standard_error, HasSubstr(" could not be started or continued: cannot"));
  EXPECT_THAT(run.standard_error, HasSubstr("resume with `bench continue runs --id 0`"));
  EXPECT_EQ(here_.bench({"status", "runs"}).standard_output, "stopped\n");
  EXPECT_FALSE(here_.has("witness"));
  EXPECT_EQ(here_.bench({"continue", "runs"}).status.code, 0);
  EXPECT_EQ(witness().size(), 6U) << here_.read("witness");
}

INSTANTIATE_TEST_SUITE_P(Faults, OutageTest,
                         testing::Values(OutageCase{"NotConnected", ENOTCONN},
                                         OutageCase{"Shutdown", ESHUTDOWN},
                                         OutageCase{"TimedOut", ETIMEDOUT},
                                         OutageCase{"HostDown", EHOSTDOWN},
                                         OutageCase{"Busy", EBUSY}, OutageCase{"NoLocks", ENOLCK},
                                         OutageCase{"NotThere", ENOENT},
                                         OutageCase{"Stale", ESTALE}, OutageCase{"Full", ENOSPC}),
                         [](const auto& instance) { return instance.param.name; });

struct SubmissionFault {
  std::string name;
  std::string file;  ///< That cannot be read or made.
  int error;
};

/// What bench needs for an array of jobs, beside the scripts of its workpackages, is away.
class SubmissionOutageTest : public testing::TestWithParam<SubmissionFault> {
 protected:
  SubmissionOutageTest() {
    std::filesystem::create_directories(here_.path() / "bin");
    std::filesystem::create_directories(here_.path() / "queue");
    for (const char* program : {"bsub", "bjobs", "bkill"})
      std::filesystem::create_symlink(FAKE_BATCH_SYSTEM, here_.path() / "bin" / program);
    here_.write("templates/array.sh",
                read_file(support::source_directory() / "templates" / "array.sh"));
    here_.write("b.yaml",
                "name: b\noutpath: runs\nparameterset: {name: s, parameter: {n: [1, 2, 3]}}\n"
                "step: {name: go, use: s, batch: {nodes: 1, time_limit: 5min}, do: 'echo $n >> "
                "$jube_benchmark_home/witness'}\n");
  }
  CommandOutput bench(std::vector<std::string> arguments, Environment more = {}) const {
    more.insert(more.end(), {{"PATH", (here_.path() / "bin").string() + ":" + std::getenv("PATH")},
                             {"USER", "somebody"},
                             {"FAKE_BATCH_KIND", "lsf"},
                             {"FAKE_BATCH_DIR", (here_.path() / "queue").string()}});
    return here_.bench(std::move(arguments), more);
  }
  CommandOutput run(Environment faults) const {
    faults.insert(faults.end(), {{"LD_PRELOAD", preload(FAULTS_LIBRARY)},
                                 {"FAULT_ROOT", (here_.path() / GetParam().file).string()},
                                 {"FAULT_AT", "1"},
                                 {"FAULT_STATS", "1"},
                                 {"FAULT", std::to_string(GetParam().error)}});
    return bench({"run", "b.yaml", "--platform", "Summit", "--account", "acc", "--partition",
                  "batch", "--wait"},
                 faults);
  }
  std::vector<std::string> witness() const { return split_names(here_.read("witness"), "\n"); }

  Playground here_;
};

TEST_P(SubmissionOutageTest, OfAMomentIsWaitedOut) {
  const auto output = run({{"FAULT_TIMES", "2"}});
  EXPECT_EQ(output.status.code, 0) << output.standard_error;
  EXPECT_THAT(output.standard_error, HasSubstr("; bench tries again for 1 min"));
  EXPECT_THAT(witness(), UnorderedElementsAre("1", "2", "3"));
}

TEST_P(SubmissionOutageTest, ThatLastsLeavesEverythingOpen) {
  const auto output = run({{"FAULT_STAYS", "1"}, {"BENCH_PATIENCE_S", "0.1"}});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(output.standard_error,
              HasSubstr("3 workpackages could not be started or continued: cannot"));
  EXPECT_THAT(output.standard_error, HasSubstr(std::strerror(GetParam().error)));
  EXPECT_THAT(output.standard_error, Not(HasSubstr("failed")));
  EXPECT_EQ(bench({"status", "runs"}).standard_output, "stopped\n");
  EXPECT_EQ(bench({"continue", "runs", "--wait"}).status.code, 0);
  EXPECT_THAT(witness(), UnorderedElementsAre("1", "2", "3"));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, SubmissionOutageTest,
    testing::Values(SubmissionFault{"TemplateUnreadable", "templates/array.sh", EIO},
                    SubmissionFault{"TemplateStale", "templates/array.sh", ESTALE},
                    SubmissionFault{"SubmissionsUnwritable", "runs/000000/submissions", EIO},
                    SubmissionFault{"SubmissionsStale", "runs/000000/submissions", ESTALE}),
    [](const auto& instance) { return instance.param.name; });

/// The template of a whole job is read before anything of a run is there.
TEST(Outage, OfAJobTemplateBeforeTheRunIsNamed) {
  const Playground here;
  here.write("templates/own.sh", "#!/bin/sh\n{{body}}\n");
  here.write("b.yaml",
             "name: b\noutpath: runs\nstep: {name: go, batch: {template: own.sh, time_limit: "
             "5min}, do: 'true'}\n");
  for (const int error : {EIO, ESTALE}) {
    const auto output = here.bench({"run", "b.yaml", "--platform", "slurm"},
                                   {{"LD_PRELOAD", preload(FAULTS_LIBRARY)},
                                    {"FAULT_ROOT", (here.path() / "templates/own.sh").string()},
                                    {"FAULT_AT", "1"},
                                    {"FAULT_STAYS", "1"},
                                    {"FAULT_STATS", "1"},
                                    {"FAULT", std::to_string(error)}});
    EXPECT_EQ(output.status.code, 1);
    EXPECT_THAT(output.standard_error, HasSubstr("templates/own.sh: "));
    EXPECT_THAT(output.standard_error, HasSubstr(std::strerror(error)));
    EXPECT_FALSE(here.has("runs"));
  }
}

/// The run directory is renamed while its first workpackage runs, and back again when bench has
/// taken note of it.
TEST(Outage, OfARunDirectoryThatIsRenamedIsNoFailure) {
  const Playground here;
  here.write("w.yaml",
             "name: w\noutpath: runs\nparameterset: {name: s, parameter: {n: [1, 2, 3]}}\n"
             "step: {name: only, use: s, procs: 1, do: ['test $n != 1 || mv ../../../000000 "
             "../../../away; echo $n >> $jube_benchmark_home/witness', 'echo then $n']}\n");
  here.write("said", "");
  const UniqueFd said(::open((here.path() / "said").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  ProcessSpec spec = here.spec({"run", "w.yaml", "--hide-animation"});
  spec.stderr_fd = said.get();
  Process run(spec);
  ASSERT_TRUE(support::eventually(
      [&] { return here.read("said").find("; bench tries again") != std::string::npos; }));
  std::filesystem::rename(here.path() / "runs/away", here.path() / "runs/000000");
  EXPECT_EQ(run.wait().code, 0);
  EXPECT_EQ(here.bench({"status", "runs"}).standard_output, "finished\n");
  EXPECT_EQ(here.read("witness"), "1\n2\n3\n");
}

// A full disk concerns all workpackages alike: none of them is a failed one.
TEST(FullDisk, LeavesWorkpackagesThatCouldNotBeStartedOpen) {
  const Playground here;
  here.run("w.yaml",
           "name: w\noutpath: runs\nparameterset: {name: s, parameter: {n: [1, 2]}}\n"
           "step: {name: only, use: s, do: echo}\n");
  here.bench({"remove", "runs", "--workpackage", "0", "--force"});
  const auto run = here.bench({"continue", "runs"},
                              {{"LD_PRELOAD", preload(FAULTS_LIBRARY)},
                               {"FAULT_ROOT", (here.path() / "runs/000000/000000_only").string()},
                               {"FAULT_AT", "1"},
                               {"FAULT", std::to_string(ENOSPC)},
                               {"FAULT_STAYS", "1"},
                               {"BENCH_PATIENCE_S", "0"}});
  EXPECT_EQ(run.status.code, 1);
  EXPECT_THAT(run.standard_error,
              HasSubstr("1 workpackage could not be started or continued: cannot"));
  EXPECT_THAT(run.standard_error, HasSubstr("No space left on device"));
  EXPECT_THAT(run.standard_error, HasSubstr("resume with `bench continue runs --id 0`"));
  EXPECT_THAT(run.standard_error, Not(HasSubstr("failed")));
}

}  // namespace
}  // namespace bench::end_to_end
