#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bench::energy {

/// A file whose code a program has loaded: the program itself, or a library.
struct LoadedFile {
  std::string path;           ///< As the program sees it, which may be in a container.
  long long bytes = 0;        ///< -1: it could not be read.
  long long modified_ns = 0;  ///< Since 1970.

  auto operator<=>(const LoadedFile&) const = default;
};

/// A program, by what the kernel tells of a process that runs it.
struct RunningProgram {
  std::string path;
  std::string compiler;  ///< As the program's section `.comment` names it; empty: it does not.
  std::string image;     ///< Of the container that it runs in; empty: in none.
  std::vector<LoadedFile> files;  ///< By path.
};

/// The programs of all processes here whose environment has `name` with that value, but for shells
/// and this process. Of several processes of a program, what any of them has loaded.
/// By proc(5): also what was loaded while they ran (dlopen).
std::vector<RunningProgram> running_programs(const std::string& name, const std::string& value);

/// The compilers that an ELF file names, such as `GCC: (Debian 12.2.0-14) 12.2.0`, with commas;
/// empty for another file.
std::string compiler_of(const std::filesystem::path& file);

/// What `record_programs` writes, and its inverse.
std::string text_of(const RunningProgram& program);
RunningProgram running_program_of(const std::string& text);

/// Writes the programs into files `PROGRAM.HASH.txt` of the directory, which is made, unless they
/// are there: the same program with the same libraries has the same name.
/// @throws Error if they cannot be written
void record_programs(const std::filesystem::path& directory,
                     const std::vector<RunningProgram>& programs);

}  // namespace bench::energy
