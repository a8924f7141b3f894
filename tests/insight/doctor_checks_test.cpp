#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/fake_programs.hpp"
#include "support/temp_directory.hpp"

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/insight/doctor.hpp>

namespace bench::insight {

void PrintTo(const CheckResult& finding, std::ostream* out) {
  *out << finding.check << " " << word_of(finding.health) << ": " << finding.text << " ["
       << finding.remedy << "]";
}

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A machine whose `sys` and `proc` are a directory, and whose programs a test writes.
class ChecksTest : public testing::Test {
 protected:
  std::string findings_of(const std::string& name) const {
    std::string text;
    for (const CheckResult& finding :
         run_here(check_named(name), {.root = root_.path(), .directory = runs_.path()})) {
      text += word_of(finding.health) + ": " + finding.text + "\n";
      if (!finding.remedy.empty())
        text += "hint: " + finding.remedy + "\n";
    }
    return text;
  }
  void write(const std::string& file, const std::string& text) const {
    make_directories((root_.path() / file).parent_path());
    root_.write(file, text);
  }

  support::TempDirectory root_;
  support::TempDirectory runs_;
  support::FakePrograms programs_;
};

TEST_F(ChecksTest, AClockThatTakesMicrosecondsIsAWarning) {
  const std::string file = "sys/devices/system/clocksource/clocksource0/current_clocksource";
  EXPECT_THAT(findings_of("clock"),
              HasSubstr("warning: cannot determine the kernel's clock source"));
  write(file, "tsc\n");
  EXPECT_EQ(findings_of("clock"), "ok: clock source tsc\n");
  write(file, "hpet\n");
  EXPECT_THAT(findings_of("clock"),
              HasSubstr("warning: clock source hpet is slow to read\nhint: "));
}

TEST_F(ChecksTest, TheKernelAndTheLibraryAreNamed) {
  EXPECT_THAT(findings_of("kernel"), AllOf(HasSubstr("ok: Linux "), Not(HasSubstr("hint"))));
  EXPECT_THAT(findings_of("libc"), HasSubstr("ok: glibc 2."));
}

TEST_F(ChecksTest, TheDirectoryOfTheRunsIsTriedAndLeftEmpty) {
  EXPECT_THAT(findings_of("file-system"), HasSubstr("ok: " + runs_.path().string() + " is "));
  EXPECT_THAT(findings_of("space"), HasSubstr(" free"));
  EXPECT_EQ(findings_of("locks"), "ok: files can be locked\n");
  EXPECT_THAT(findings_of("database"), HasSubstr("ok: SQLite works, with a "));
  EXPECT_THAT(findings_of("small-files"), HasSubstr(" files of 1 KiB in "));
  EXPECT_THAT(std::vector(std::filesystem::directory_iterator(runs_.path()), {}), IsEmpty());
}

TEST_F(ChecksTest, ADirectoryThatIsGoneIsAnError) {
  std::filesystem::remove_all(runs_.path());
  for (const char* check : {"file-system", "space", "locks", "database", "small-files"})
    EXPECT_THAT(findings_of(check),
                AllOf(HasSubstr("error: cannot "), HasSubstr("No such file"),
                      HasSubstr("hint: use another directory with --outpath\n")))
        << check;
}

TEST_F(ChecksTest, InterpretersAreAsked) {
  EXPECT_THAT(findings_of("python"), HasSubstr("warning: no python3: `mode: python`"));
  EXPECT_THAT(findings_of("bash"), HasSubstr("warning: no bash: job scripts need it"));
  EXPECT_EQ(findings_of("perl"), "ok: no perl; only `mode: perl` needs it\n");
  programs_.say("python3", "3.11.2\n");
  programs_.say("bash", "", "bash: bad library\n", 127);
  EXPECT_EQ(findings_of("python"), "ok: Python 3.11.2\n");
  EXPECT_THAT(findings_of("bash"), HasSubstr("error: bash: bad library\n"));
}

TEST_F(ChecksTest, AShellThatPrintsTextOfItsOwnIsAWarning) {
  EXPECT_EQ(findings_of("shell"), "ok: /bin/sh works\n");
  programs_.write("loud", "echo welcome\necho works");
  const support::EnvironmentVariable chosen("JUBE_EXEC_SHELL",
                                            (programs_.path() / "loud").string());
  EXPECT_THAT(findings_of("shell"),
              HasSubstr("loud prints text of its own: welcome works\nhint: "));
}

TEST_F(ChecksTest, WithoutABatchSystemThereIsOneLine) {
  EXPECT_EQ(findings_of("scheduler"), "ok: none: steps run on this machine\n");
  for (const char* check : {"partitions", "accounting", "accounts", "limits"})
    EXPECT_EQ(findings_of(check), "") << check;
}

TEST_F(ChecksTest, SlurmIsAskedForPartitionsAccountingAndLimits) {
  programs_.say("sbatch", "slurm-wlm 22.05.8\n");
  programs_.write("scontrol", R"(case "$*" in
*partition*) echo 'PartitionName=gpu Default=YES State=UP MaxTime=1-00:00:00 TotalNodes=4'
  echo 'PartitionName=old State=INACTIVE MaxTime=UNLIMITED TotalNodes=1' ;;
*) echo 'MaxArraySize = 1001' ;;
esac)");
  programs_.say("sinfo", "gpu|gpu:a100:4|2\n");
  programs_.say("sacct", "", "Slurm accounting storage is disabled\n", 1);
  programs_.say("sacctmgr", "");
  EXPECT_EQ(findings_of("scheduler"), "ok: slurm-wlm 22.05.8\n");
  EXPECT_EQ(findings_of("partitions"),
            "ok: gpu (default, 4 nodes, 4 GPUs per node, 24 h 00 min), old (1 node, takes no "
            "jobs)\n");
  EXPECT_THAT(findings_of("accounting"),
              HasSubstr("warning: no accounting: Slurm accounting storage is disabled\nhint: "));
  EXPECT_EQ(findings_of("limits"), "ok: job arrays of up to 1001 tasks\n");
}

TEST_F(ChecksTest, ABatchSystemThatDoesNotAnswerIsAnError) {
  programs_.say("sbatch", "slurm 23.02\n");
  programs_.say("scontrol", "", "Unable to contact slurm controller\n", 1);
  EXPECT_THAT(findings_of("partitions"),
              HasSubstr("error: scontrol: Unable to contact slurm controller\nhint: "));
}

TEST_F(ChecksTest, AServerIsAskedAndNotOnlyTheProgramThatSubmits) {
  struct Case {
    const char* submits;
    const char* asks;
    const char* answered;
  };
  for (const auto& [submits, asks, answered] :
       {Case{"qsub", "qstat", "ok: PBS or Grid Engine: `qsub` is on PATH\n"},
        Case{"bsub", "bqueues", "ok: LSF: `bsub` is on PATH\n"},
        Case{"pjsub", "pjstat", "ok: PJM: `pjsub` is on PATH\n"}}) {
    const support::FakePrograms programs;
    programs.say(submits, "");
    EXPECT_THAT(findings_of("scheduler"),
                HasSubstr("is on PATH, `" + std::string(asks) + "` is not\nhint: "));
    programs.say(asks, "");
    EXPECT_EQ(findings_of("scheduler"), answered);
    programs.say(asks, "", std::string(asks) + ": cannot connect to server\n", 255);
    EXPECT_THAT(findings_of("scheduler"),
                HasSubstr("error: " + std::string(asks) + ": cannot connect to server\nhint: "));
  }
}

TEST_F(ChecksTest, FluxIsAskedForItsJobs) {
  programs_.write("flux", "case $1 in --version) echo 'commands: 0.66.0' ;; *) exit $down ;; esac");
  EXPECT_EQ(findings_of("scheduler"), "ok: commands: 0.66.0\n");
  const support::EnvironmentVariable down("down", "1");
  EXPECT_THAT(findings_of("scheduler"), HasSubstr("error: flux: "));
}

TEST_F(ChecksTest, TroubleOfSeveralLinesIsToldOnceWithoutTheNameOfTheProgram) {
  programs_.say("sbatch", "",
                "sbatch: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host\n"
                "sbatch: error: fetch_config: DNS SRV lookup failed\n\n"
                "sbatch: fatal: Could not establish a configuration source\n",
                1);
  EXPECT_THAT(
      findings_of("scheduler"),
      HasSubstr("error: sbatch: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host; "
                "fetch_config: DNS SRV lookup failed; fatal: Could not establish a "
                "configuration source\nhint: "));
  programs_.say("scontrol", "", "scontrol: error: first\nscontrol: error: second\n", 1);
  EXPECT_THAT(findings_of("partitions"),
              HasSubstr("error: scontrol: error: first; error: second\nhint: "));
}

TEST_F(ChecksTest, GpusAreCounted) {
  EXPECT_EQ(findings_of("gpus"), "ok: none\n");
  write("proc/driver/nvidia/version", "NVRM version: 535\n");
  EXPECT_THAT(findings_of("gpus"),
              HasSubstr("warning: the NVIDIA driver is loaded, but nvidia-smi"));
  programs_.say("nvidia-smi",
                "NVIDIA A100-SXM4-40GB, 535.54.03\nNVIDIA A100-SXM4-40GB, 535.54.03\n");
  EXPECT_EQ(findings_of("gpus"), "ok: 2 x NVIDIA A100-SXM4-40GB, driver 535.54.03\n");
  programs_.say("nvidia-smi", "Failed to initialize NVML: Driver/library version mismatch\n", "",
                18);
  EXPECT_THAT(findings_of("gpus"),
              HasSubstr("error: nvidia-smi: Failed to initialize NVML: Driver/library version "
                        "mismatch\nhint: "));
  std::filesystem::remove_all(root_.path() / "proc");
  write("sys/module/amdgpu/version", "6.3.6\n");
  programs_.say("nvidia-smi", "");
  programs_.say("rocm-smi", "device,Card series,Card model\ncard0,AMD INSTINCT MI250,0x740c\n");
  EXPECT_EQ(findings_of("gpus"), "ok: 1 x AMD INSTINCT MI250, driver 6.3.6\n");
}

TEST_F(ChecksTest, PowerSensorsAreThoseOfTheMeter) {
  programs_.say("bench-energy",
                "no power source on this node\nabsent: rapl: no RAPL\nabsent: nvml: no driver\n");
  EXPECT_THAT(findings_of("power"), HasSubstr("warning: no power sensor: rapl, nvml are absent\n"));
  programs_.say("bench-energy",
                "channel      added  part of  what\nrapl:pkg-0   yes    -        package 0\n"
                "absent: nvml: no driver\nnote: rapl: is counted\n");
  EXPECT_EQ(findings_of("power"), "ok: rapl:pkg-0\n");
}

TEST_F(ChecksTest, SlowBlasOfTheStepProgramsIsAnError) {
  EXPECT_THAT(findings_of("steps"), HasSubstr("ok: no step programs"));
  programs_.say("gpt", "program=gpt\ntorch_version=2.1.0\nblas=openblas-openmp\ngpus=4\n");
  EXPECT_EQ(findings_of("steps"), "ok: LibTorch 2.1.0, BLAS openblas-openmp, 4 GPUs\n");
  programs_.say("gpt", "torch_version=2.1.0\nblas=reference\ngpus=0\n");
  EXPECT_THAT(findings_of("steps"),
              HasSubstr("error: LibTorch 2.1.0, BLAS reference, 0 GPUs\nhint: "));
  programs_.say("gpt", "", "error while loading shared libraries: libtorch.so\n", 127);
  EXPECT_THAT(findings_of("steps"), HasSubstr("error: gpt: error while loading shared libraries"));
}

TEST(CheckNamesTest, AWrongOneGetsASuggestion) {
  EXPECT_EQ(support::error_of([] { check_named("kernal"); }),
            "error: unknown check 'kernal'\nhint: did you mean 'kernel'?");
}

/// What a process of its own makes of a check.
class ExamineTest : public testing::Test {
 protected:
  std::vector<CheckResult> examine_by(const std::string& script, double deadline_s = 60) const {
    return run_in_child(check_named("clock"), {"/bin/sh", "-c", script}, deadline_s);
  }
};

TEST_F(ExamineTest, FindingsComeBackAsTheyWere) {
  const std::vector<CheckResult> written{{"clock", Health::ok, "all \"well\"", ""},
                                         {"clock", Health::warning, "slow", "ask"}};
  EXPECT_EQ(run_in_child(check_named("clock"), {"/usr/bin/printf", "%s", json_of(written)}, 60),
            written);
}

TEST_F(ExamineTest, ACheckThatDoesNotEndIsALine) {
  const std::string remedy = "`bench doctor clock` repeats this check alone";
  for (const char* script : {"sleep 600", "trap '' TERM; while :; do sleep 1; done",
                             "trap '' TERM HUP INT; sleep 600 & wait; sleep 600"})
    EXPECT_THAT(examine_by(script, 0.2),
                ElementsAre(CheckResult{"clock", Health::error, "no answer within 0.2 s", remedy}))
        << script;
}

TEST_F(ExamineTest, ACheckThatCrashesIsALine) {
  EXPECT_EQ(examine_by("echo broken driver >&2; kill -SEGV $$").at(0).text,
            "the check ended with signal 11 (Segmentation fault): broken driver");
  EXPECT_EQ(examine_by("echo no JSON").at(0).text, "the check ended with exit code 0");
}

TEST_F(ExamineTest, TheReportForATicketIsJson) {
  EXPECT_THAT(report_json("1.2", {{"clock", Health::ok, "tsc", ""},
                                  {"power", Health::warning, "none", "estimate"}}),
              AllOf(HasSubstr("\"bench\": \"1.2\""), HasSubstr("\"warnings\": 1"),
                    HasSubstr("\"remedy\": \"estimate\"")));
}

}  // namespace
}  // namespace bench::insight
