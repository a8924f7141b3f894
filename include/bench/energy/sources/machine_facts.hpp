#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace bench::energy {

/// `gpus` (`4 x NVIDIA A100-SXM4-40GB`) and `gpu_driver`, by the files of the NVIDIA and AMD
/// drivers; empty where there are none.
/// @param root where `proc` and `sys` are
std::map<std::string, std::string> gpu_facts(const std::filesystem::path& root);

/// `cpu`, its `topology` (`2 sockets, 64 cores, 128 CPUs, 8 NUMA nodes`), `clocks` (`acpi-cpufreq,
/// governor performance, 1.50 to 3.40 GHz, boost on, clock source tsc`) and `firmware` (machine,
/// version and date of the BIOS, microcode), from the kernel's files; unknown items are left out.
/// @param root as above
std::map<std::string, std::string> cpu_facts(const std::filesystem::path& root);

/// The image of the container that this process runs in, as reported by Apptainer, Singularity and
/// Podman; empty outside of a container.
/// @param root as above, where `run` and `.dockerenv` are, too
std::string container_image(const std::filesystem::path& root);

/// Writes the facts of this node, one `NAME=VALUE` per line, to `node.HOST.txt` in the directory,
/// unless the file exists: the facts above, `system` and the loaded `modules`. Creates the
/// directory.
/// @throws Error if it cannot be written
void record_node(const std::filesystem::path& directory);

}  // namespace bench::energy
