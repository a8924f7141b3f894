#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/hash.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/sources/machine_facts.hpp>
#include <bench/space/run.hpp>
#include <bench/space/software.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::space {
namespace {

namespace fs = std::filesystem;
using energy::LoadedFile;
using energy::RunningProgram;

/// By the XDG base directory specification.
fs::path cache_directory() {
  if (const char* const own = std::getenv("XDG_CACHE_HOME"); own && *own == '/')
    return own;
  const char* const home = std::getenv("HOME");
  return home && *home == '/' ? fs::path(home) / ".cache" : fs::path();
}

/// SHA-256 of large files that seldom change, such as libraries. They are remembered by path, size
/// and time of modification in `bench/file_hashes` of the user's cache directory, so that each is
/// read once. Without such a directory nothing is remembered; beyond 10,000 files, only those that
/// were asked for last.
class FileHashes {
 public:
  FileHashes() {
    const fs::path cache = cache_directory();
    if (cache.empty())
      return;
    memory_ = cache / "bench/file_hashes";
    std::ifstream stream(memory_);
    for (std::string line; std::getline(stream, line);) {
      std::istringstream words(line);
      std::string hash;
      std::string path;
      long long bytes = 0;
      long long modified_ns = 0;
      if (words >> hash >> bytes >> modified_ns && words.get() == ' ' &&
          std::getline(words, path) && hash.size() == 64)
        known_[{path, bytes, modified_ns}] = hash;
    }
  }

  FileHashes(const FileHashes&) = delete;
  FileHashes& operator=(const FileHashes&) = delete;
  /// Keeps what is new.
  ~FileHashes() {
    if (!changed_ || memory_.empty())
      return;
    constexpr std::size_t most_files = 10'000;
    std::string text;
    for (const auto& [file, hash] : known_)
      if (known_.size() <= most_files || used_.contains(file))
        text += fmt::format("{} {} {} {}\n", hash, std::get<1>(file), std::get<2>(file),
                            std::get<0>(file));
    try {
      make_directories(memory_.parent_path());
      write_file_atomically(memory_, text);
    } catch (const Error&) {
      // It only saves time.
    }
  }

  /// @param bytes its size
  /// @param modified_ns its time of modification since 1970
  /// @returns nothing if it cannot be read
  std::optional<std::string> of(const fs::path& file, long long bytes, long long modified_ns) {
    const File key{file.string(), bytes, modified_ns};
    used_.insert(key);
    if (const auto known = known_.find(key); known != known_.end())
      return known->second;
    // What was remembered of an older version of this file is useless now.
    for (auto old = known_.lower_bound({file.string(), 0, 0});
         old != known_.end() && std::get<0>(old->first) == file.string();)
      old = known_.erase(old);
    try {
      std::string hash = sha256_of_file(file);
      changed_ = true;
      return known_[key] = std::move(hash);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

 private:
  using File = std::tuple<std::string, long long, long long>;  ///< Path, size, modification.

  std::filesystem::path memory_;  ///< Empty: there is none.
  std::map<File, std::string> known_;
  std::set<File> used_;
  bool changed_ = false;
};

constexpr std::string_view node_prefix = "node.";

/// What `bench-energy --record` has written.
struct Records {
  /// Each distinct machine, with the names of its nodes.
  std::map<std::string, std::vector<std::string>> nodes;
  std::vector<RunningProgram> programs;
};

Records records_of(const Run& run) {
  std::vector<fs::path> files;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(run.directory.path / "environment", absent))
    if (entry.path().extension() == ".txt")
      files.push_back(entry.path());
  std::ranges::sort(files);
  Records records;
  for (const fs::path& file : files) {
    const std::string text = read_file(file);
    const std::string name = file.stem().string();
    // A program may be called `node`, too.
    if (name.starts_with(node_prefix) && !text.starts_with("program="))
      records.nodes[text].push_back(name.substr(node_prefix.size()));
    else
      records.programs.push_back(energy::running_program_of(text));
  }
  return records;
}

std::string text_of_nodes(const std::map<std::string, std::vector<std::string>>& nodes) {
  std::vector<std::string> texts;
  for (const auto& [facts, names] : nodes)
    texts.push_back(fmt::format("{}: {}", join(names, ", "), join(split_names(facts, "\n"), "; ")));
  std::ranges::sort(texts);
  return join(texts, "\n");
}

/// The file's SHA-256 as sha256sum prints it, or why it is not known.
std::string hash_line(const LoadedFile& file, FileHashes& hashes) {
  if (file.bytes < 0)
    return fmt::format("unknown: could not be read on the node  {}", file.path);
  const LoadedFile here = energy::loaded_file(file.path);
  if (here.bytes < 0)
    return fmt::format("unknown: not on the machine of bench  {}", file.path);
  if (here != file)
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
  std::error_code absent;
  if (!fs::is_regular_file(image, absent))
    return fmt::format("unknown: not a file on the machine of bench  {}", image);
  return hash_line(energy::loaded_file(image), hashes);
}

}  // namespace

void record_software(Run& run, workspace::Workspace& workspace) {
  const auto [nodes, programs] = records_of(run);
  if (nodes.empty() && programs.empty())
    return;
  const auto keep = [&](const char* name, const std::string& value) {
    std::string& known = run.metadata.provenance[name];
    if (value.empty() || known == value)
      return;
    known = value;
    workspace.set_fact(name, value);
  };
  FileHashes hashes;
  keep("nodes", text_of_nodes(nodes));
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

}  // namespace bench::space
