#include "setup/provenance.hpp"

#include "setup/machine_facts.hpp"
#include "support/environment_variable.hpp"
#include "support/temp_directory.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>

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

TEST(CpuFacts, AreThoseOfTheKernel) {
  const support::TempDirectory root;
  root.write("proc/cpuinfo", "processor : 0\nmodel name : EPYC\nmicrocode : 0xa20\n");
  const struct {
    const char* cpu;
    const char* socket;
    const char* core;
  } cpus[] = {{"cpu0", "0", "0"}, {"cpu1", "0", "1"}, {"cpu2", "1", "0"}, {"cpu3", "1", "0"}};
  for (const auto& one : cpus) {
    const std::string place = std::string("sys/devices/system/cpu/") + one.cpu + "/topology/";
    root.write(place + "physical_package_id", one.socket + std::string("\n"));
    root.write(place + "core_id", one.core + std::string("\n"));
  }
  root.write("sys/devices/system/cpu/cpu4/online", "0\n");  // as with SMT off
  const std::string frequencies = "sys/devices/system/cpu/cpu0/cpufreq/";
  root.write(frequencies + "scaling_driver", "acpi-cpufreq\n");
  root.write(frequencies + "scaling_governor", "performance\n");
  root.write(frequencies + "cpuinfo_min_freq", "1500000\n");
  root.write(frequencies + "cpuinfo_max_freq", "3400000\n");
  root.write("sys/devices/system/cpu/cpufreq/boost", "1\n");
  root.write("sys/devices/system/node/node0/cpulist", "0-3\n");
  root.write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  root.write("sys/class/dmi/id/sys_vendor", "Dell Inc.\n");
  root.write("sys/class/dmi/id/product_name", "R7525\n");
  root.write("sys/class/dmi/id/bios_version", "2.3.1\n");
  root.write("sys/class/dmi/id/bios_date", "01/02/2024\n");
  const auto facts = cpu_facts(root.path());
  EXPECT_EQ(facts.at("cpu"), "EPYC");
  EXPECT_EQ(facts.at("topology"), "2 sockets, 3 cores, 4 CPUs, 1 NUMA node");
  EXPECT_EQ(facts.at("clocks"),
            "acpi-cpufreq, governor performance, 1.50 to 3.40 GHz, boost on, clock source tsc");
  EXPECT_EQ(facts.at("firmware"), "Dell Inc. R7525, BIOS 2.3.1 of 01/02/2024, microcode 0xa20");
}

TEST(CpuFacts, AreEmptyWhereTheKernelTellsNothing) {
  const support::TempDirectory root;
  for (const auto& [name, value] : cpu_facts(root.path()))
    EXPECT_EQ(value, "") << name;
}

TEST(ContainerImage, IsTheOneThatTheContainerTells) {
  const support::TempDirectory root;
  EXPECT_EQ(container_image(root.path()), "");
  root.write("run/.containerenv", "engine=\"podman-4.3\"\nimage=\"docker.io/x:1\"\n");
  EXPECT_EQ(container_image(root.path()), "docker.io/x:1");
  const support::EnvironmentVariable apptainer("APPTAINER_CONTAINER", "/images/torch.sif");
  EXPECT_EQ(container_image(root.path()), "/images/torch.sif");
}

TEST_F(ProvenanceTest, ARevisionIsNotCalledUnchangedWhereGitDoesNotSay) {
  const auto git =
      directory_.write("bin/git", "#!/bin/sh\n[ \"$3\" = rev-parse ] && echo 5d41402a\n");
  std::filesystem::permissions(git, std::filesystem::perms::owner_all);
  const support::EnvironmentVariable path("PATH", (directory_.path() / "bin").string());
  EXPECT_EQ(collect_provenance(file_).at("git_revision"), "5d41402a+unknown");
}

TEST_F(ProvenanceTest, KeepsHowFilesDifferFromTheirRevision) {
  if (find_program("git").empty())
    GTEST_SKIP() << "git is not installed";
  const auto git = [&](std::vector<std::string> arguments) {
    std::vector<std::string> all{
        "git", "-C", directory_.path().string(), "-c", "user.name=a", "-c", "user.email=a@b"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    constexpr double patience_s = 600;
    return run_command({.arguments = all, .directory = {}, .environment = std::nullopt}, patience_s)
        .status.success();
  };
  ASSERT_TRUE(git({"init", "-q"}) && git({"add", "in.yaml"}) && git({"commit", "-qm", "x"}));
  EXPECT_FALSE(collect_provenance(file_).contains("git_difference"));
  directory_.write("in.yaml", "step: {name: a, do: y}\n");
  const auto facts = collect_provenance(file_);
  EXPECT_THAT(facts.at("git_revision"), testing::EndsWith("+changes"));
  EXPECT_THAT(facts.at("git_difference"), HasSubstr("\n+step: {name: a, do: y}\n"));
}

}  // namespace
}  // namespace bench::setup
