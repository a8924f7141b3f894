#include "support/environment_variable.hpp"
#include "support/temp_directory.hpp"

#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <bench/energy/sources/machine_facts.hpp>

namespace bench::energy {
namespace {

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
  root.write("run/.containerenv", "image=\"docker.io/x:1\"\nimageid=\"5d41\"\n");
  EXPECT_EQ(container_image(root.path()), "docker.io/x:1@sha256:5d41");
  const support::EnvironmentVariable apptainer("APPTAINER_CONTAINER", "/images/torch.sif");
  EXPECT_EQ(container_image(root.path()), "/images/torch.sif");
}

}  // namespace
}  // namespace bench::energy
