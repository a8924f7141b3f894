// A platform file that bench writes for a real Slurm, and the jobs that check it.
#include "site.hpp"
#include "slurm/cluster.hpp"
#include "support/eventually.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::slurm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class PlatformSetupTest : public SlurmTest {
 protected:
  CommandOutput platforms(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "platforms");
    return site_.bench(std::move(arguments));
  }
  void write_new() const {
    const auto made = platforms({"new", "mine", "--partition", "low", "--output", "mine.yaml"});
    ASSERT_EQ(made.status.code, 0) << made.standard_error;
  }
  /// What the queue holds of all users.
  std::string queue() const { return cluster().ask({"squeue", "-h", "-o", "%i %T"}); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(site_.home()))
      if (entry.path().filename().string().starts_with(".bench"))
        names.push_back(entry.path().filename());
    return names;
  }
  Site site_{&cluster()};
};

TEST_F(PlatformSetupTest, AFileIsWrittenOnceAndRuns) {
  write_new();
  const std::string text = read_file(site_.home() / "mine.yaml");
  EXPECT_THAT(text,
              AllOf(HasSubstr("partition: {value: \"low\", "), HasSubstr("  nodes: {value: 4, "),
                    HasSubstr("  cores_per_node: {value: 16, "),
                    HasSubstr("  devices_per_node: {value: 4, "),
                    HasSubstr("Other partitions: fx, lowcancel.")));
  const auto again = platforms({"new", "mine", "--output", "mine.yaml"});
  EXPECT_EQ(again.status.code, 1);
  EXPECT_THAT(again.standard_error, HasSubstr("error: mine.yaml exists\nhint: "));
  EXPECT_EQ(read_file(site_.home() / "mine.yaml"), text);
  site_.sweep(1);
  EXPECT_EQ(site_.run({"--wait"}, "./mine.yaml").status.code, 0);
}

TEST_F(PlatformSetupTest, EachPartitionRunsAJobAndNothingIsLeft) {
  write_new();
  // A launcher that prints a lot hides no finding.
  const auto chatty = site_.home() / "chatty";
  write_file_atomically(chatty, "#!/bin/sh\nseq 60\nsrun \"$@\"\n");
  std::filesystem::permissions(chatty, std::filesystem::perms::owner_all);
  write_file_atomically(site_.home() / "mine.yaml",
                        replace_all(read_file(site_.home() / "mine.yaml"), "{command: srun}",
                                    "{command: " + chatty.string() + "}"));
  const auto checked = platforms({"check", "./mine.yaml"});
  for (const char* partition : {"fx", "low", "lowcancel"})
    EXPECT_THAT(checked.standard_output, HasSubstr(std::string("warning  ") + partition));
  // All nodes of the test are this machine, which does not have their 16 cores.
  EXPECT_THAT(checked.standard_output,
              AllOf(HasSubstr("; the platform file says 16"), HasSubstr(", 3 warnings, 0 errors")))
      << checked.standard_error;
  EXPECT_EQ(checked.status.code, 0);
  EXPECT_THAT(queue(), IsEmpty());
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(PlatformSetupTest, WhatDoesNotFitIsSaid) {
  write_new();
  const std::string text = read_file(site_.home() / "mine.yaml");
  write_file_atomically(
      site_.home() / "mine.yaml",
      replace_all(text, "{command: srun}", "{command: sruna}") + "polling: {interval: 1s}\n");
  const auto checked = platforms({"check", "./mine.yaml", "--partition", "fx", "nosuch"});
  EXPECT_EQ(checked.status.code, 1);
  EXPECT_THAT(checked.standard_output,
              AllOf(HasSubstr("sruna: not found"), HasSubstr("error    nosuch"),
                    HasSubstr("0 ok, 0 warnings, 2 errors")));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(PlatformSetupTest, AJobThatWaitsForTooLongIsCancelled) {
  write_new();
  // Nobody but this test uses the cluster: its nodes are full, so the job has to wait.
  cluster().ask({"sbatch", "-p", "fx", "-N", "4", "--exclusive", "--output", "/dev/null", "--wrap",
                 "sleep 600"});
  const auto checked = platforms({"check", "./mine.yaml", "--partition", "fx", "--timeout", "3"});
  EXPECT_EQ(checked.status.code, 1);
  EXPECT_THAT(
      checked.standard_output,
      HasSubstr("error    fx           the job did not end within 3 s and was cancelled\n"));
  EXPECT_THAT(split_names(queue(), "\n"), testing::SizeIs(1));  // the one in the way
  EXPECT_THAT(files(), IsEmpty());
  cluster().ask({"scancel", "-p", "fx"});
}

TEST_F(PlatformSetupTest, CtrlCLeavesNoJobBehind) {
  write_new();
  cluster().ask({"sbatch", "-p", "fx", "-N", "4", "--exclusive", "--output", "/dev/null", "--wrap",
                 "sleep 600"});
  const auto jobs = [&] { return split_names(queue(), "\n").size(); };
  const auto output = site_.home() / "output";
  const UniqueFd file(::open(output.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  ProcessSpec spec = site_.spec({"platforms", "check", "./mine.yaml", "--partition", "fx"});
  spec.stdout_fd = spec.stderr_fd = file.get();
  Process checking(spec);
  ASSERT_TRUE(support::eventually([&] { return jobs() == 2; }));
  checking.signal_group(SIGINT);
  EXPECT_EQ(checking.wait().signal, SIGINT);
  EXPECT_THAT(read_file(output), HasSubstr("interrupted; the job was cancelled"));
  EXPECT_EQ(jobs(), 1U);  // the one in the way
  EXPECT_THAT(files(), IsEmpty());
  cluster().ask({"scancel", "-p", "fx"});
}

}  // namespace
}  // namespace bench::slurm
