#include "support/error_of.hpp"
#include "support/fake_programs.hpp"
#include "support/temp_directory.hpp"

#include <filesystem>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <bench/base/host.hpp>
#include <bench/insight/new_platform.hpp>
#include <bench/machine/platform.hpp>

namespace bench::insight {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* lscpu =
    "Model name:            AMD EPYC 7742 64-Core Processor\nThread(s) per core:    2\n"
    "Core(s) per socket:    64\nSocket(s):             2\nNUMA node(s):          8\n";

/// Programs that answer as those of a cluster do.
class SurveyTest : public testing::Test {
 protected:
  SurveyTest() { programs_.say("lscpu", lscpu); }
  void fake_slurm() const {
    programs_.say("sbatch", "slurm 23.02");
    programs_.write("scontrol", R"(case "$*" in
*partition*) echo 'PartitionName=gpu State=UP TotalNodes=12 MaxNodes=4 MaxTime=1-00:00:00'
  echo 'PartitionName=cpu Default=YES State=UP TotalNodes=100' ;;
*config*) echo 'ClusterName             = fox'; echo 'MaxArraySize = 1001' ;;
esac)");
    programs_.write("sinfo", R"(case "$*" in
*'-p gpu'*) echo '2|2|64|2|1000000+|gpu:a100:8(S:0-1)'; echo '10|2|64|2|515000|gpu:a100:4(S:0-7)' ;;
*'-p cpu'*) echo '100|2|24|1|192000|(null)' ;;
*) echo 'gpu|gpu:a100:8|2' ;;
esac)");
    programs_.say("sacctmgr", "zam|normal\n");
  }
  /// The file, read by bench itself.
  machine::Platform read(const std::string& text) const {
    directory_.write("fox.yaml", text);
    return machine::load_platform((directory_.path() / "fox.yaml").string());
  }

  support::TempDirectory directory_;
  support::FakePrograms programs_;
};

TEST_F(SurveyTest, APartitionIsDescribedByItsMostFrequentNodes) {
  fake_slurm();
  const std::string text = platform_file("fox", survey("gpu"));
  const machine::Platform fox = read(text);
  EXPECT_EQ(fox.asking.partition, "gpu");
  EXPECT_EQ(fox.gpu_request, machine::GpuRequest::gres);
  EXPECT_EQ(fox.gpu_type, "a100");
  EXPECT_EQ(fox.machine.nodes->value, 12);
  EXPECT_EQ(fox.machine.devices_per_node->value, 4);
  EXPECT_EQ(fox.machine.cores_per_node->value, 128);
  EXPECT_EQ(fox.machine.memory_gb->value, 540);
  EXPECT_THAT(
      fox.machine.notes,
      testing::ElementsAre("Other partitions: cpu.",
                           "The nodes of the partition differ; this file describes the "
                           "first: 10 with 128 cores, 515000 MiB, gpu:a100:4(S:0-7); 2 with "
                           "128 cores, 1000000 MiB, gpu:a100:8(S:0-1)."));
}

/// As in `Gres=gpu:a100`.
TEST_F(SurveyTest, AGresWithoutANumberIsOneGpu) {
  fake_slurm();
  for (const auto& [gres, type] : {std::pair("gpu:a100", "a100"), {"gpu", ""}}) {
    programs_.say("sinfo", fmt::format("2|2|64|2|515000|{}", gres));
    const machine::Platform fox = read(platform_file("fox", survey("gpu")));
    EXPECT_EQ(fox.machine.devices_per_node->value, 1) << gres;
    EXPECT_EQ(fox.gpu_type, type) << gres;
  }
}

TEST_F(SurveyTest, GuessesAreMarked) {
  fake_slurm();
  const std::string text = platform_file("fox", survey("gpu"));
  EXPECT_THAT(
      text,
      AllOf(
          HasSubstr("gpu_request: {unconfirmed: \"gres\", source: \"sinfo lists gpu as GRES; some "
                    "sites want gpus-per-node\"}  # guess\n"),
          HasSubstr("  processor: {unconfirmed: \"AMD EPYC 7742 64-Core Processor\", source: "
                    "\"lscpu on " +
                    host_name() + "\"}  # guess\n"),
          HasSubstr("  devices_per_node: {value: 4, source: \"sinfo (GRES)\"}\n"),
          HasSubstr("account: $BENCH_ACCOUNT")));
  EXPECT_TRUE(read(text).machine.modules_per_node->unconfirmed);
}

TEST_F(SurveyTest, WithoutANameTheDefaultPartitionIsDescribed) {
  fake_slurm();
  const machine::Platform fox = read(platform_file("fox", survey("")));
  EXPECT_EQ(fox.asking.partition, "cpu");
  EXPECT_EQ(fox.gpu_request, machine::GpuRequest::none);
  EXPECT_FALSE(fox.machine.devices_per_node);
}

TEST_F(SurveyTest, AWrongPartitionIsAnswered) {
  EXPECT_EQ(support::error_of([] { survey("gpu"); }),
            "error: no Slurm on this node: sbatch is not on PATH\n"
            "hint: omit --partition to describe only this node");
  fake_slurm();
  EXPECT_EQ(support::error_of([] { survey("gup"); }),
            "error: no partition 'gup'\nhint: did you mean 'gpu'?");
  programs_.say("scontrol", "", "Unable to contact slurm controller", 1);
  EXPECT_THAT(support::error_of([] { survey(""); }),
              HasSubstr("error: Slurm does not answer: scontrol: Unable to contact"));
}

TEST_F(SurveyTest, ANodeWithoutABatchSystemIsDescribedByItself) {
  programs_.say("nvidia-smi", "NVIDIA H100 PCIe, 81559, 350.00\nNVIDIA H100 PCIe, 81559, 350.00\n");
  const machine::Platform fox = read(platform_file("fox", survey("")));
  EXPECT_FALSE(fox.capabilities().queues_jobs);
  EXPECT_EQ(fox.machine.nodes->value, 1);
  EXPECT_EQ(fox.machine.cores_per_node->value, 128);
  EXPECT_EQ(fox.machine.devices_per_node->value, 2);
  EXPECT_EQ(fox.machine.accelerator.name, "NVIDIA H100 PCIe");
  EXPECT_EQ(fox.machine.accelerator.power_limit_w->value, 350);
  EXPECT_NEAR(fox.machine.accelerator.memory_gb->value, 85.5, 0.05);
}

/// Otherwise the peaks that users add to the file would be no variables of a device.
TEST_F(SurveyTest, GpusOfNvidiaAreModules) {
  programs_.say("nvidia-smi", "NVIDIA H100 PCIe, 81559, 350.00\nNVIDIA H100 PCIe, 81559, 350.00\n");
  const machine::Platform fox = read(platform_file("fox", survey("")));
  EXPECT_EQ(fox.machine.modules_per_node->value, 2);
  EXPECT_FALSE(fox.machine.modules_per_node->unconfirmed);
}

TEST_F(SurveyTest, AmdsGpusAreCounted) {
  programs_.say("rocm-smi",
                "device,Card series,Card model\ncard0,AMD MI250,0x1\ncard1,AMD MI250,0x1\n");
  const machine::Platform fox = read(platform_file("fox", survey("")));
  EXPECT_EQ(fox.machine.devices_per_node->value, 2);
  EXPECT_TRUE(fox.machine.modules_per_node->unconfirmed);
  EXPECT_EQ(fox.machine.accelerator.name, "AMD MI250");
}

TEST_F(SurveyTest, AMuteMachineGivesAFileNevertheless) {
  programs_.say("lscpu", "", "broken", 1);
  const std::string text = platform_file("fox", survey(""));
  EXPECT_THAT(text, Not(HasSubstr("cores_per_node")));
  EXPECT_EQ(read(text).name, "fox");
}

}  // namespace
}  // namespace bench::insight
