#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

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

/// A file whose code a program has loaded: the program itself, or a library.
struct LoadedFile {
  std::string path;           ///< As seen by the program, which may run in a container.
  long long bytes = 0;        ///< -1: it could not be read.
  long long modified_ns = 0;  ///< Since 1970.

  auto operator<=>(const LoadedFile&) const = default;
};

/// @param root of the file system in which the path is; empty: of this process
LoadedFile loaded_file(const std::string& path, const std::filesystem::path& root = {});

/// A program, described by the kernel's data on a process that runs it.
struct RunningProgram {
  std::string path;
  std::string compiler;  ///< From the program's section `.comment`; empty if unknown.
  std::string image;     ///< Of the container that it runs in; empty outside of a container.
  std::vector<LoadedFile> files;  ///< By path.
};

/// The programs of all processes on this machine whose environment has `name` with that value,
/// except shells and this process. Merges the loaded files of several processes of one program,
/// including those loaded at run time (dlopen). Source: proc(5).
std::vector<RunningProgram> running_programs(const std::string& name, const std::string& value);

/// The compilers that an ELF file names, such as `GCC: (Debian 12.2.0-14) 12.2.0`, with commas;
/// empty for another file.
std::string compiler_of(const std::filesystem::path& file);

/// The text that `record_programs` writes, and its inverse.
std::string text_of(const RunningProgram& program);
RunningProgram running_program_of(const std::string& text);

/// Writes each program to `PROGRAM.HASH.txt` in the directory, unless the file exists: the same
/// program with the same libraries has the same name. Creates the directory.
/// @throws Error if they cannot be written
void record_programs(const std::filesystem::path& directory,
                     const std::vector<RunningProgram>& programs);

}  // namespace bench::energy
