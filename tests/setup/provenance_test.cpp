#include "setup/provenance.hpp"

#include "support/environment_variable.hpp"
#include "support/temp_directory.hpp"

#include <filesystem>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::setup {
namespace {

using testing::HasSubstr;
using testing::Not;

class ProvenanceTest : public testing::Test {
 protected:
  std::string environment() const { return collect_provenance(file_).at("environment"); }

  support::TempDirectory directory_;
  std::filesystem::path file_ = directory_.write("in.yaml", "step: {name: a, do: x}\n");
};

TEST_F(ProvenanceTest, VariablesThatChangeWhatIsMeasuredAreKept) {
  const support::EnvironmentVariable threads("OMP_NUM_THREADS", "3");
  const support::EnvironmentVariable other("EDITOR", "vi");
  EXPECT_THAT(environment(), HasSubstr("OMP_NUM_THREADS=3"));
  EXPECT_THAT(environment(), Not(HasSubstr("EDITOR")));
}

TEST_F(ProvenanceTest, TheJobThatBenchRunsInIsKeptOfEveryBatchSystem) {
  const support::EnvironmentVariable slurm("SLURM_JOB_PARTITION", "gpu");
  const support::EnvironmentVariable pbs("PBS_QUEUE", "large");
  const support::EnvironmentVariable flux("FLUX_JOB_NNODES", "2");
  EXPECT_THAT(environment(), HasSubstr("FLUX_JOB_NNODES=2\n"));
  EXPECT_THAT(environment(), HasSubstr("PBS_QUEUE=large\n"));
  EXPECT_THAT(environment(), HasSubstr("SLURM_JOB_PARTITION=gpu"));
}

TEST_F(ProvenanceTest, TheInputIsKnownByItsDigest) {
  const auto before = collect_provenance(file_).at("input_sha256");
  directory_.write("in.yaml", "step: {name: a, do: y}\n");
  EXPECT_NE(collect_provenance(file_).at("input_sha256"), before);
}

/// A machine with the files of GPU drivers under `root`.
void add_nvidia_gpu(const support::TempDirectory& root, const std::string& address) {
  root.write("proc/driver/nvidia/gpus/" + address + "/information",
             "Model: \t\t NVIDIA H100\nIRQ:   \t\t 16\n");
  root.write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 550.54\nGCC\n");
}

void add_amd_gpu(const support::TempDirectory& root, const std::string& number,
                 const std::string& product_name) {
  const std::string device = "sys/devices/pci" + number;
  root.write(device + "/vendor", "0x1002\n");
  root.write(device + "/device", "0x740c\n");
  root.write(device + "/product_name", product_name + "\n");
  for (const std::string& node : {"card" + number, "renderD12" + number}) {
    std::filesystem::create_directories(root.path() / "sys/class/drm" / node);
    std::filesystem::create_directory_symlink(root.path() / device,
                                              root.path() / "sys/class/drm" / node / "device");
  }
}

using Facts = std::map<std::string, std::string>;

TEST(GpuFacts, CountTheGpusOfEachModel) {
  const support::TempDirectory root;
  EXPECT_EQ(gpu_facts(root.path()), (Facts{{"gpus", ""}, {"gpu_driver", ""}}));
  add_nvidia_gpu(root, "0000:01:00.0");
  add_nvidia_gpu(root, "0000:02:00.0");
  EXPECT_EQ(gpu_facts(root.path()),
            (Facts{{"gpus", "2 x NVIDIA H100"},
                   {"gpu_driver", "NVRM version: NVIDIA UNIX x86_64 550.54"}}));
}

TEST(GpuFacts, OfAmdGpusAreThoseOfTheKernelsDriver) {
  const support::TempDirectory root;
  add_amd_gpu(root, "0", "AMD INSTINCT MI250");
  add_amd_gpu(root, "1", "AMD INSTINCT MI250");
  add_amd_gpu(root, "2", "");
  root.write("sys/module/amdgpu/version", "6.7.0\n");
  EXPECT_EQ(gpu_facts(root.path()), (Facts{{"gpus", "1 x AMD GPU 0x740c, 2 x AMD INSTINCT MI250"},
                                           {"gpu_driver", "amdgpu 6.7.0"}}));
}

}  // namespace
}  // namespace bench::setup
