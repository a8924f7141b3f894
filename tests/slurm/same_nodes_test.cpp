#include "site.hpp"
#include "slurm/cluster.hpp"
#include "support/eventually.hpp"

#include <map>
#include <set>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::slurm {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

/// Jobs share nodes in these clusters, so that Slurm would put a job that may run anywhere on the
/// first node. Each job therefore takes all cores of its nodes.
class SameNodesTest : public SlurmTest {
 protected:
  /// Every workpackage leaves its nodes.
  static void write(const Site& site, const std::string& values, const std::string& commands,
                    const std::string& batch = "", const std::string& step = "") {
    write_file_atomically(
        site.home() / "sweep.yaml",
        "name: sweep\noutpath: runs\nparameterset: {name: p, parameter: {" + values +
            "}}\nstep:\n  name: work\n  use: p\n" + step +
            "  batch: {same_nodes: true, threads_per_task: 16" + batch +
            "}\n  do:\n    - echo $nodes $$SLURM_JOB_NODELIST >> ../../../../witness\n    - " +
            commands + "\n");
  }
  /// Takes the first node until `end` is called.
  std::string occupy_first() {
    return cluster().ask({"sbatch", "--parsable", "--partition=fx", "--nodelist=v1", "--exclusive",
                          "--output=/dev/null", "--wrap=sleep 1000"});
  }
  static void end(const std::string& job) { cluster().ask({"scancel", job}); }
};

TEST_F(SameNodesTest, TheOthersRunWhereTheFirstBegan) {
  Site site(&cluster());
  const std::string job = occupy_first();
  // Once the first workpackage runs, nodes with lower names are free.
  write(site, "nodes: 1, n: [0, 1, 2]", "if [ $n = 0 ]; then scancel " + job + "; sleep 2; fi");
  const auto run = site.run({"--wait"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_EQ(site.witness(), (std::map<std::string, int>{{"1 v2", 3}}));
}

TEST_F(SameNodesTest, EachNumberOfNodesHasASetOfItsOwn) {
  Site site(&cluster());
  write(site, "nodes: [1, 2], n: [0, 1]", "exit 0", ", nodes: $nodes");
  const auto run = site.run({"--wait"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  std::map<std::string, std::set<std::string>> nodes;
  for (const auto& [line, count] : site.witness())
    nodes[line.substr(0, 1)].insert(line.substr(2));
  EXPECT_THAT(nodes["1"], SizeIs(1));
  EXPECT_THAT(nodes["2"], SizeIs(1));
}

TEST_F(SameNodesTest, AContinuedRunKeepsToTheNodes) {
  Site site(&cluster());
  const std::string job = occupy_first();
  write(site, "nodes: 1, n: [0, 1, 2]", "exit 0");
  const auto run = site.run();
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_THAT(run.standard_error,
              HasSubstr("2 workpackages wait until the job of workpackage 0 has begun, to run on "
                        "its nodes (`same_nodes`)"));
  EXPECT_THAT(site.attempts(), SizeIs(1));
  EXPECT_THAT(site.bench({"why", "runs", "1"}).standard_output,
              HasSubstr("those of workpackage 0 (`same_nodes`)"));
  site.go_on({"--wait"});
  end(job);
  EXPECT_EQ(site.witness(), (std::map<std::string, int>{{"1 v2", 3}}));
}

TEST_F(SameNodesTest, TheNextBecomesTheFirstWhereOneNeverBegins) {
  Site site(&cluster());
  // Slurm refuses the first, which no node has memory for.
  write(site, "nodes: 1, n: [0, 1, 2], mb: {mode: python, _: \"999999999 if $n == 0 else 100\"}",
        "exit 0", ", memory: $mb");
  const auto run = site.run({"--wait"});
  EXPECT_THAT(run.standard_error, HasSubstr("refused"));
  EXPECT_EQ(site.witness(), (std::map<std::string, int>{{"1 v1", 2}}));
}

TEST_F(SameNodesTest, ADrainedNodeIsTold) {
  Site site(&cluster());
  write(site, "nodes: 1, n: [0, 1]",
        "if [ $n = 0 ]; then scontrol update NodeName=$$SLURMD_NODENAME State=DRAIN Reason=test; "
        "fi");
  ProcessSpec spec =
      site.spec({"run", "sweep.yaml", "--platform", "fx", "--wait", "--cancel-on-interrupt"});
  const UniqueFd told(::open((site.home() / "told").c_str(), O_WRONLY | O_CREAT, 0600));
  spec.stdout_fd = spec.stderr_fd = told.get();
  Process bench(spec);
  EXPECT_TRUE(support::eventually([&] {
    return read_file(site.home() / "told")
               .find(
                   "waits for nodes that are down or drained: ReqNodeNotAvail, "
                   "UnavailableNodes:v1") != std::string::npos;
  })) << read_file(site.home() / "told");
  bench.signal_group(SIGINT);
  bench.wait();
  cluster().ask({"scontrol", "update", "NodeName=v1", "State=RESUME"});
  EXPECT_EQ(site.states(), (std::map<std::string, int>{{"done", 1}, {"failed", 1}}));
}

}  // namespace
}  // namespace bench::slurm
