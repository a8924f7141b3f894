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

/// `src/run/loop.cpp` and `include/bench/run/loop.hpp` belong to `run`, `src/energy/core/ticks.cpp`
/// to `energy/core`.
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

/// The modules and their levels: the table of CONTRIBUTING.md.
std::map<std::string, int> levels_of_modules() {
  std::map<std::string, int> levels;
  const Regex row(R"(^\| (\d+) \| `([\w/]+)` \|)");
  for (const std::string& line : lines_of("CONTRIBUTING.md"))
    if (const auto match = row.search(line))
      levels[(*match)[2]] = std::stoi((*match)[1]);
  return levels;
}

TEST(Architecture, ModulesIncludeLowerLevelsOnly) {
  const auto levels = levels_of_modules();
  for (const fs::path& file : files_of({"include/bench", "src"})) {
    const std::string module = module_of(file);
    ASSERT_TRUE(levels.contains(module)) << file << ": its module is not in CONTRIBUTING.md";
    for (const std::string& name : includes_of(file))
      if (name.starts_with("bench/")) {
        const std::string other = module_of(fs::path("include") / name);
        EXPECT_TRUE(other == module || levels.at(other) < levels.at(module))
            << file << " includes " << name;
      }
  }
}

/// A stranger follows them.
TEST(Architecture, FilesThatTheGuidesNameExist) {
  const Regex name(R"(`([\w/]+/\w+\.[ch]pp)`)");
  for (const char* guide : {"CONTRIBUTING.md", "docs/background/how_a_run_works.md"})
    for (const std::string& line : lines_of(guide))
      for (const std::string& file : name.find_all(line))
        EXPECT_TRUE(fs::exists(root / file) || fs::exists(root / "src" / file) ||
                    fs::exists(root / "include/bench" / file))
            << guide << ": " << file;
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

TEST(Architecture, DynamicLibrariesAreLoadedByTheMeterOnly) {
  for (const fs::path& file : files_of({"include", "src"}))
    for (const std::string& name : includes_of(file))
      EXPECT_TRUE(name != "dlfcn.h" || module_of(file) == "energy/sources") << file;
}

TEST(Architecture, HeadersNameNoThirdParty) {
  for (const fs::path& file : files_of({"include"}))
    for (const std::string& name : includes_of(file))
      EXPECT_TRUE(name.starts_with("bench/") || is_standard(name)) << file << " includes " << name;
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
