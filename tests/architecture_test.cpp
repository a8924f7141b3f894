#include "rooms.hpp"
#include "support/source_directory.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/regex.hpp>

namespace bench {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

using Lines = std::vector<std::string>;

const fs::path root = bench::support::source_directory();

/// Every C++ file below these folders of the source tree, sorted, relative to it.
std::vector<fs::path> files_of(const std::vector<std::string>& folders) {
  std::vector<fs::path> files;
  for (const std::string& folder : folders)
    if (fs::is_directory(root / folder))
      for (const auto& entry : fs::recursive_directory_iterator(root / folder))
        if (const auto ending = entry.path().extension(); ending == ".cpp" || ending == ".hpp")
          files.push_back(entry.path().lexically_relative(root));
  std::ranges::sort(files);
  return files;
}

Lines lines_of(const fs::path& file) {
  std::ifstream stream(root / file);
  Lines lines;
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

/// `src/scheduler/loop.cpp` and `include/bench/scheduler/loop.hpp` belong to `scheduler`,
/// `src/energy/core/ticks.cpp` to `energy/core`: a file's room is its folder.
std::string module_of(const fs::path& file) {
  const std::string folder = file.parent_path().generic_string();
  return folder.substr(
      std::string_view(folder.starts_with("src") ? "src/" : "include/bench/").size());
}

/// What is between the brackets or quotes of each #include line.
Lines includes_of(const fs::path& file) {
  static const Regex include(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  Lines names;
  for (const std::string& line : lines_of(file))
    if (const auto match = include.search(line))
      names.push_back((*match)[1]);
  return names;
}

/// A file's place for messages.
std::string at(const fs::path& file, std::size_t line) {
  return file.string() + ":" + std::to_string(line + 1);
}

TEST(Architecture, EveryModuleHasALevel) {
  for (const fs::path& file : files_of({"include/bench", "src"}))
    EXPECT_TRUE(levels.contains(module_of(file))) << file;
}

TEST(Architecture, TheMapOfRoomsIsTrue) {
  std::map<std::string, double> mapped;
  const Regex row(R"(^\| (\d+(?:\.\d)?) \| `([\w/]+)` \|)");
  for (const std::string& line : lines_of("CONTRIBUTING.md"))
    if (const auto match = row.search(line))
      mapped[(*match)[2]] = std::stod((*match)[1]);
  EXPECT_EQ(mapped, levels);
}

TEST(Architecture, ModulesIncludeLowerLevelsOnly) {
  for (const fs::path& file : files_of({"include/bench", "src"})) {
    const std::string module = module_of(file);
    for (const std::string& name : includes_of(file)) {
      if (!name.starts_with("bench/") && !name.starts_with("../"))
        continue;
      const std::string other =
          module_of(name.starts_with("../") ? (file.parent_path() / name).lexically_normal()
                                            : fs::path("include") / name);
      EXPECT_TRUE(other == module || levels.at(other) < levels.at(module))
          << file << " includes " << name;
    }
  }
}

/// `scheduler/loop` of both `src/scheduler/loop.cpp` and its header.
std::string unit_of(const fs::path& file) {
  return module_of(file) + "/" + file.stem().string();
}

/// The units that each unit includes, of every room.
std::map<std::string, std::set<std::string>> included_units() {
  std::map<std::string, std::set<std::string>> units;
  for (const fs::path& file : files_of({"include/bench", "src"}))
    for (const std::string& name : includes_of(file)) {
      std::string other;
      if (name.starts_with("bench/"))
        other = fs::path(name.substr(6)).replace_extension().string();
      else if (name.find('/') == std::string::npos && name.ends_with(".hpp"))
        other = module_of(file) + "/" + fs::path(name).stem().string();
      if (!other.empty() && other != unit_of(file))
        units[unit_of(file)].insert(other);
    }
  return units;
}

/// What `unit` reaches by #include lines, itself only if it is in a cycle.
std::set<std::string> reached_from(const std::string& unit,
                                   const std::map<std::string, std::set<std::string>>& units) {
  std::set<std::string> reached;
  std::vector<std::string> waiting{unit};
  while (!waiting.empty()) {
    const auto found = units.find(waiting.back());
    waiting.pop_back();
    if (found != units.end())
      for (const std::string& other : found->second)
        if (reached.insert(other).second)
          waiting.push_back(other);
  }
  return reached;
}

constexpr std::size_t longest_cycle = 3;

TEST(Architecture, FewFilesIncludeOneAnotherInACircle) {
  const auto units = included_units();
  std::map<std::string, std::set<std::string>> reached;
  for (const auto& [unit, others] : units)
    reached[unit] = reached_from(unit, units);
  for (const auto& [unit, others] : reached) {
    std::set<std::string> cycle;
    for (const std::string& other : others)
      if (reached.contains(other) && reached.at(other).contains(unit))
        cycle.insert(other);
    EXPECT_LE(cycle.size(), longest_cycle) << testing::PrintToString(cycle);
  }
}

/// Headers of the language and of the system.
bool is_standard(const std::string& name) {
  static const std::set<std::string> system{
      "arpa/inet.h", "netinet/in.h", "netinet/tcp.h", "dirent.h",  "dlfcn.h",   "fcntl.h",
      "glob.h",      "grp.h",        "poll.h",        "pthread.h", "pty.h",     "pwd.h",
      "sched.h",     "signal.h",     "elf.h",         "syslog.h",  "termios.h", "spawn.h",
      "unistd.h",    "malloc.h",     "time.h",        "stdlib.h",  "netdb.h",   "stdio.h",
      "string.h",    "net/if.h"};
  return name.find_first_of("./") == std::string::npos || name.starts_with("sys/") ||
         name.starts_with("linux/") || system.contains(name);
}

/// Whose header it is: `fmt`, `boost`, ...; the file's own folder gives an empty text.
std::string library_of(const std::string& name) {
  if (name.starts_with("bench/") || name.starts_with("../") || is_standard(name))
    return "";
  const auto slash = name.find('/');
  if (slash != std::string::npos)
    return name.substr(0, slash);
  if (name.starts_with("pcre2"))
    return "pcre2";
  if (name == "utf8.h")
    return "utf8cpp";
  if (name == "archive.h" || name == "archive_entry.h")
    return "archive";
  if (name == "zlib.h")
    return "zlib";
  if (name == "pugixml.hpp")
    return "pugixml";
  if (name == "sqlite3.h")  // for what SQLiteCpp has no words for
    return "SQLiteCpp";
  return name.ends_with(".hpp") ? "" : name;
}

TEST(Architecture, ThirdPartyLibrariesStayInTheirModules) {
  for (const fs::path& file : files_of({"src"}))
    for (const std::string& name : includes_of(file)) {
      const std::string library = library_of(name);
      const auto allowed = libraries.find(module_of(file));
      const bool named = allowed != libraries.end() && allowed->second.contains(library);
      EXPECT_TRUE(library.empty() || library == "fmt" || named) << file << " includes " << name;
    }
}

TEST(Architecture, DynamicLibrariesAreLoadedByTheMeterOnly) {
  for (const fs::path& file : files_of({"include", "src"}))
    for (const std::string& name : includes_of(file))
      EXPECT_TRUE(name != "dlfcn.h" || module_of(file) == "energy/sources") << file;
}

TEST(Architecture, HeadersNameNoThirdParty) {
  for (const fs::path& file : files_of({"include"}))
    for (const std::string& name : includes_of(file))
      EXPECT_EQ(library_of(name), "") << file << " includes " << name;
}

/// The header in which they tell the meter of their regions needs nothing else.
TEST(Architecture, StepProgramsAreIndependentOfTheOrchestrator) {
  const std::string regions = "bench/energy/regions/region.hpp";
  for (const fs::path& file : files_of({"steps"}))
    for (const std::string& name : includes_of(file))
      EXPECT_TRUE(!name.starts_with("bench/") || name == regions) << file << " includes " << name;
  for (const std::string& name : includes_of(fs::path("include") / regions))
    EXPECT_FALSE(name.starts_with("bench/")) << regions << " includes " << name;
}

/// Every line of the files that the expression matches, but for those in `allowed` files.
Lines matches(const std::vector<fs::path>& files, const char* expression,
              const std::set<std::string>& allowed) {
  const Regex wanted(expression);
  Lines found;
  for (const fs::path& file : files) {
    if (allowed.contains(file.string()))
      continue;
    const Lines lines = lines_of(file);
    for (std::size_t k = 0; k < lines.size(); ++k)
      if (wanted.search(lines[k]))
        found.push_back(at(file, k) + ": " + lines[k]);
  }
  return found;
}

TEST(Architecture, OnlyTheProgramsPrint) {
  std::vector<fs::path> files = files_of({"include", "src"});
  std::erase_if(files, [](const fs::path& file) { return module_of(file) == "cli"; });
  EXPECT_THAT(
      matches(files,
              R"(std::(cout|cerr|clog|printf|puts)\b|\b(printf|puts|putchar)\s*\(|)"
              R"(\b(fputs|fwrite|perror)\s*\(|\bfprintf\s*\(\s*std|\bfmt::(print|println)\s*\()",
              {"src/energy/program/main.cpp"}),
      IsEmpty());
}

/// Others ask for what a batch system can do.
TEST(Architecture, NobodyAsksForABatchSystemByItsName) {
  EXPECT_THAT(matches(files_of({"include", "src"}), R"([sS]cheduler (==|!=) ")", {}), IsEmpty());
}

TEST(Architecture, NothingCatchesEverything) {
  EXPECT_THAT(matches(files_of({"include", "src"}), R"(catch \(\.\.\.\))", {}), IsEmpty());
}

}  // namespace
}  // namespace bench
