#include "bench_program.hpp"
#include "preload.hpp"
#include "support/document_commands.hpp"
#include "support/eventually.hpp"
#include "support/patience.hpp"
#include "support/source_directory.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class DoctorTest : public testing::Test {
 protected:
  /// A program that comes before the system's.
  void program(const std::string& name, const std::string& script) const {
    here_.write("bin/" + name, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(here_.path() / "bin" / name, std::filesystem::perms::owner_all);
  }
  CommandOutput doctor(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "doctor");
    return here_.bench(std::move(arguments),
                       {{"PATH", (here_.path() / "bin").string() + ":" + std::getenv("PATH")}});
  }
  Playground here_;
};

TEST_F(DoctorTest, HasALineForEachFindingOrOneObject) {
  const auto output = doctor({"kernel", "python", "locks"});
  EXPECT_EQ(output.status.code, 0) << output.standard_output;
  EXPECT_THAT(output.standard_output, MatchesRegex("ok       kernel       Linux [^\n]+\n"
                                                   "ok       python       Python 3[^\n]+\n"
                                                   "ok       locks        files can be locked\n"
                                                   "3 ok, 0 warnings, 0 errors\n"));
  EXPECT_THAT(doctor({"kernel", "--json"}).standard_output,
              AllOf(HasSubstr("{\n  \"bench\": \""), HasSubstr("\"errors\": 0,\n"),
                    ContainsRegex("\"check\": \"kernel\",\n +\"health\": \"ok\","),
                    Not(HasSubstr("kernel       "))));
  const auto wrong = doctor({"kernle"});
  EXPECT_EQ(wrong.status.code, 1);
  EXPECT_EQ(wrong.standard_error, "error: unknown check 'kernle'\nhint: did you mean 'kernel'?\n");
}

TEST_F(DoctorTest, TheOrderIsAlwaysTheSame) {
  std::vector<std::string> names;
  for (const std::string& line : split(doctor({}).standard_output, "\n"))
    if (line.starts_with("ok ") || line.starts_with("warning ") || line.starts_with("error "))
      if (const auto words = split_names(line, " "); names.empty() || names.back() != words.at(1))
        names.push_back(words.at(1));
  std::erase_if(names, [](const std::string& name) {
    return name == "partitions" || name == "accounting" || name == "accounts" || name == "limits";
  });
  EXPECT_EQ(join(names, " "),
            "kernel libc clock file-system space locks database small-files python perl shell bash "
            "platforms scheduler gpus power steps");
}

/// One that waits in vain is ended by the check that asked it, one that holds up the whole check by
/// bench.
TEST_F(DoctorTest, AProgramThatHangsIsALine) {
  program("python3", "trap '' TERM\nsleep 600");
  const auto inner = doctor({"python"});
  EXPECT_EQ(inner.status.code, 1);
  EXPECT_THAT(inner.standard_output,
              AllOf(HasSubstr("error    python       python3: no answer within 5 s\n"),
                    HasSubstr("hint: install Python 3"), HasSubstr("0 ok, 0 warnings, 1 error\n")));
  const auto outer = doctor({"python", "kernel", "--timeout", "0.3"});
  EXPECT_THAT(outer.standard_output,
              AllOf(HasSubstr("error    python       no answer within 0.3 s\n"),
                    HasSubstr("hint: `bench doctor python` repeats this check alone\n")));
}

TEST_F(DoctorTest, AProgramThatHangsDoesNotOutliveIt) {
  program("python3", "echo $$ > pid\ntrap '' TERM\nsleep 600");
  std::string pid;
  for (double timeout_s = 0.5; pid.empty() && timeout_s < 5; timeout_s *= 2) {  // where it is busy
    doctor({"python", "--timeout", fmt::format("{}", timeout_s)});
    pid = here_.has("pid") ? here_.read("pid") : "";
  }
  ASSERT_NE(pid, "");
  EXPECT_TRUE(support::eventually([&] { return !is_alive(std::stoi(pid)); }));
}

/// Nobody waits for it but the check itself.
TEST_F(DoctorTest, AFileSystemThatHangsIsALine) {
  const auto output =
      here_.bench({"doctor", "file-system", "locks", "--timeout", "0.3"},
                  {{"LD_PRELOAD", preload(FAKE_FILE_SYSTEM_LIBRARY)},
                   {"FAKE_FILE_SYSTEM", std::filesystem::canonical(here_.path()).string()},
                   {"FAKE_FILE_SYSTEM_HANGS", "1"}});
  EXPECT_EQ(output.status.code, 1) << output.standard_error;
  EXPECT_THAT(output.standard_output,
              AllOf(HasSubstr("error    file-system  no answer within 0.3 s\n"),
                    HasSubstr("error    locks        no answer within 0.3 s\n"),
                    HasSubstr("0 ok, 0 warnings, 2 errors\n")));
}

TEST_F(DoctorTest, ADirectoryWhereNothingCanBeWrittenIsALine) {
  ProcessSpec spec = here_.spec({"doctor", "locks", "database", "small-files", "shell"});
  spec.directory = "/proc";  // not even root makes files there
  const auto output = run_command(spec, support::far_too_long_s);
  EXPECT_EQ(output.status.code, 1) << output.standard_error;
  for (const char* check : {"locks       ", "database    ", "small-files "})
    EXPECT_THAT(output.standard_output,
                HasSubstr(fmt::format("error    {} cannot create a directory in /proc: ", check)));
  EXPECT_THAT(output.standard_output,
              AllOf(HasSubstr("hint: use another directory with --outpath\n"),
                    HasSubstr("1 ok, 0 warnings, 3 errors\n")));
}

TEST_F(DoctorTest, NeedsNoHome) {
  ProcessSpec spec = here_.spec({"doctor", "platforms", "python", "steps", "--json"});
  std::erase_if(*spec.environment, [](const auto& variable) {
    return variable.first == "HOME" || variable.first == "XDG_CONFIG_HOME";
  });
  const auto output = run_command(spec, support::far_too_long_s);
  EXPECT_THAT(output.standard_output,
              ContainsRegex("\"check\": \"platforms\",\n +\"health\": \"ok\""));
  EXPECT_EQ(output.standard_error, "");
}

TEST_F(DoctorTest, EachPlatformFileThatIsBrokenIsALine) {
  here_.write("home/bench/platforms/owl.yaml", "name: fox\n");
  here_.write("home/bench/platforms/fox.yaml", "name: fox\nshceduler: slurm\n");
  const auto output =
      here_.bench({"doctor", "platforms"}, {{"XDG_CONFIG_HOME", (here_.path() / "home").string()}});
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(
      output.standard_output,
      AllOf(ContainsRegex("error    platforms    [^\n]*/fox.yaml: a platform has no 'shceduler'"),
            ContainsRegex(
                "error    platforms    [^\n]*/owl.yaml: platform 'fox' has no job template"),
            HasSubstr("0 ok, 0 warnings, 2 errors\n")));
}

TEST_F(DoctorTest, ATimeoutIsANumberAboveZero) {
  for (const char* timeout : {"0", "-1", "nan", "inf", "soon"}) {
    const auto output = doctor({"kernel", std::string("--timeout=") + timeout});
    EXPECT_EQ(output.status.code, 2) << timeout;
    EXPECT_THAT(output.standard_error,
                HasSubstr(fmt::format("'{}' is not a number above 0", timeout)));
  }
}

TEST_F(DoctorTest, WarningsFailOnlyIfAskedTo) {
  program("sbatch", "echo slurm 23.02");
  program("scontrol", "echo PartitionName=p State=UP TotalNodes=1");
  program("sinfo", "echo 'p|(null)|1'");
  program("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1");
  EXPECT_EQ(doctor({"accounting"}).status.code, 0);
  EXPECT_EQ(doctor({"accounting", "--strict"}).status.code, 1);
}

TEST_F(DoctorTest, AnswersTheLinesOfItsPage) {
  int count = 0;
  for (const auto& command :
       support::commands_to_run(support::source_directory() / "docs/how-to/check_a_machine.md")) {
    const auto words = split_names(command.line, " ");
    ASSERT_EQ(words.at(1), "doctor");
    const auto output = doctor({words.begin() + 2, words.end()});
    EXPECT_THAT(output.standard_output, HasSubstr("error")) << command.line;  // a count, or lines
    EXPECT_EQ(output.standard_error, "") << command.line;
    ++count;
  }
  EXPECT_EQ(count, 3);
}

}  // namespace
}  // namespace bench::end_to_end
