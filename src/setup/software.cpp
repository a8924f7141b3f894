#include "file_hashes.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/stat.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/machine/running_programs.hpp>
#include <bench/setup/software.hpp>

namespace bench::setup {
namespace {

namespace fs = std::filesystem;
using energy::LoadedFile;
using energy::RunningProgram;

constexpr std::string_view node_prefix = "node.";

std::vector<fs::path> recorded_files(const Run& run) {
  std::vector<fs::path> files;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(run.directory.path / "environment", absent))
    if (entry.path().extension() == ".txt")
      files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// Written for a node by `bench-energy`, not for a program that is called `node`.
bool is_of_node(const fs::path& file) {
  return file.filename().string().starts_with(node_prefix) &&
         !read_file(file).starts_with("program=");
}

/// Each distinct machine, with the names of its nodes.
std::string text_of_nodes(const std::vector<fs::path>& files) {
  std::map<std::string, std::vector<std::string>> hosts;
  for (const fs::path& file : files)
    if (is_of_node(file))
      hosts[read_file(file)].push_back(file.stem().string().substr(node_prefix.size()));
  std::vector<std::string> texts;
  for (const auto& [facts, names] : hosts)
    texts.push_back(fmt::format("{}: {}", join(names, ", "), join(split_names(facts, "\n"), "; ")));
  std::ranges::sort(texts);
  return join(texts, "\n");
}

std::vector<RunningProgram> programs_in(const std::vector<fs::path>& files) {
  std::vector<RunningProgram> programs;
  for (const fs::path& file : files)
    if (!is_of_node(file))
      programs.push_back(energy::running_program_of(read_file(file)));
  return programs;
}

/// The file's SHA-256 as sha256sum prints it, or why it is not known.
std::string hash_line(const LoadedFile& file, FileHashes& hashes) {
  struct stat status {};
  constexpr long long ns_per_s = 1'000'000'000;
  if (file.bytes < 0)
    return fmt::format("unknown: could not be read on the node  {}", file.path);
  if (::stat(file.path.c_str(), &status) != 0)
    return fmt::format("unknown: not on the machine of bench  {}", file.path);
  if (status.st_size != file.bytes ||
      status.st_mtim.tv_sec * ns_per_s + status.st_mtim.tv_nsec != file.modified_ns)
    return fmt::format("unknown: changed, or another file on the machine of bench  {}", file.path);
  const auto hash = hashes.of(file.path, file.bytes, file.modified_ns);
  return fmt::format("{}  {}", hash.value_or("unknown: not readable on the machine of bench"),
                     file.path);
}

std::string text_of_libraries(const std::vector<RunningProgram>& programs, FileHashes& hashes) {
  std::map<std::string, std::set<std::string>> lines;  // by path
  std::set<std::pair<LoadedFile, std::string>> done;
  for (const RunningProgram& program : programs)
    for (const LoadedFile& file : program.files) {
      if (!done.emplace(file, program.image).second)
        continue;
      std::string line = hash_line(file, hashes);
      if (line.starts_with("unknown") && !program.image.empty())
        line = fmt::format("unknown: in container {}  {}", program.image, file.path);
      lines[file.path].insert(std::move(line));
    }
  std::vector<std::string> all;
  for (const auto& [path, of_path] : lines)
    all.insert(all.end(), of_path.begin(), of_path.end());
  return join(all, "\n");
}

std::string text_of_compilers(const std::vector<RunningProgram>& programs) {
  std::set<std::string> lines;
  for (const RunningProgram& program : programs)
    if (!program.compiler.empty())
      lines.insert(fmt::format("{}: {}", program.path, program.compiler));
  return join(std::vector<std::string>(lines.begin(), lines.end()), "\n");
}

/// The digest of an image: that of a file as above; Podman reports it with the name.
std::string digest_of_image(const std::string& image, FileHashes& hashes) {
  if (image.find("@sha256:") != std::string::npos)
    return image.substr(image.find("@sha256:") + 1);
  struct stat status {};
  if (::stat(image.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return fmt::format("unknown: not a file on the machine of bench  {}", image);
  constexpr long long ns_per_s = 1'000'000'000;
  return hash_line({.path = image,
                    .bytes = status.st_size,
                    .modified_ns = status.st_mtim.tv_sec * ns_per_s + status.st_mtim.tv_nsec},
                   hashes);
}

}  // namespace

void record_software(Run& run, workspace::Workspace& workspace) {
  const std::vector<fs::path> files = recorded_files(run);
  if (files.empty())
    return;
  const auto keep = [&](const char* name, const std::string& value) {
    std::string& known = run.metadata.provenance[name];
    if (value.empty() || known == value)
      return;
    known = value;
    workspace.set_fact(name, value);
  };
  FileHashes hashes;
  const auto programs = programs_in(files);
  keep("nodes", text_of_nodes(files));
  keep("compiler", text_of_compilers(programs));
  keep("libraries", text_of_libraries(programs, hashes));
  std::set<std::string> images;
  for (const RunningProgram& program : programs)
    if (!program.image.empty())
      images.insert(program.image);
  std::vector<std::string> digests;
  for (const std::string& image : images)
    digests.push_back(digest_of_image(image, hashes));
  keep("container", join(std::vector<std::string>(images.begin(), images.end()), "\n"));
  keep("container_digest", join(digests, "\n"));
}

}  // namespace bench::setup
