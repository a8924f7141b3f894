#include "cluster.hpp"

#include "support/eventually.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::slurm {
namespace {

namespace fs = std::filesystem;

/// How many processes have these words on their command line.
int processes_with(const std::string& words) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream stream(entry.path() / "cmdline");
    std::ostringstream line;
    line << stream.rdbuf();  // unlike a stream's iterators, throws nothing if a process goes
    count += line.str().find(words) != std::string::npos;
  }
  return count;
}

std::string submit(const Cluster& cluster, const std::string& command) {
  return cluster.ask({"sbatch", "--parsable", "-o", "/dev/null", "--wrap", command});
}

std::string state(const Cluster& cluster, const std::string& job) {
  return cluster.ask({"squeue", "-h", "-t", "all", "-j", job, "-o", "%T"});
}

class ClusterTest : public SlurmTest {};

TEST_F(ClusterTest, RunsAJob) {
  const std::string job = submit(cluster(), "true");
  EXPECT_TRUE(support::eventually([&] { return state(cluster(), job) == "COMPLETED"; }));
}

TEST_F(ClusterTest, HasTheGpusOfItsNodes) {
  EXPECT_EQ(cluster().ask({"sinfo", "-h", "-p", "fx", "-o", "%R %D %c %G"}), "fx 4 16 gpu:4");
}

TEST_F(ClusterTest, FindsAJobAgainAfterTheControllerWasAway) {
  const std::string job = submit(cluster(), "sleep 1");
  cluster().stop_controller();
  EXPECT_THROW(cluster().ask({"scontrol", "ping"}), std::runtime_error);
  cluster().start_controller();
  EXPECT_TRUE(support::eventually([&] { return state(cluster(), job) == "COMPLETED"; }));
}

TEST_F(ClusterTest, LeavesNoProcessAndNoFile) {
  fs::path home;
  const std::string witness = "sleep 3141.5926";
  {
    const Cluster own;
    home = own.conf().parent_path();
    submit(own, "exec " + witness);
    submit(own, "srun " + witness);
    const auto running = [&] { return own.ask({"squeue", "-h", "-t", "R", "-o", "%A"}); };
    ASSERT_TRUE(support::eventually([&] { return running().find('\n') != std::string::npos; }));
  }
  EXPECT_FALSE(fs::exists(home));
  EXPECT_EQ(processes_with(home.string()), 0);
  EXPECT_EQ(processes_with(std::string("sleep\0003141.5926", 15)), 0);
}

TEST_F(ClusterTest, StandsBesideOthers) {
  const Cluster second;
  const Cluster third;
  EXPECT_NE(second.ask({"scontrol", "show", "config"}), third.ask({"scontrol", "show", "config"}));
  const std::string job =
      second.ask({"sbatch", "--parsable", "--hold", "-o", "/dev/null", "--wrap", "true"});
  const std::string twice = job + "," + job;  // squeue fails for a single unknown id
  EXPECT_EQ(state(second, twice), "PENDING");
  EXPECT_EQ(state(third, twice), "");
}

TEST(MachinesTest, HasANodeOfEveryShape) {
  if (!Cluster::missing().empty())
    GTEST_SKIP() << Cluster::missing();
  const Cluster machines({"machines"});
  EXPECT_THAT(machines.ask({"sinfo", "-h", "-o", "%R %D %c %G"}),
              testing::AllOf(testing::HasSubstr("boost_usr_prod 1 32 gpu:4\n"),
                             testing::HasSubstr("standard-g 2 128 gpu:8\n"),
                             testing::HasSubstr("dc-mi200 1 96 (null)\n")));
}

}  // namespace
}  // namespace bench::slurm
