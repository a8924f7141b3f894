// The pages of the documentation as texts: their links, their form, and that a test runs what they
// show.
#include "support/document_commands.hpp"
#include "support/source_directory.hpp"
#include "terminal_pages.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using support::commands_not_run;
using support::document_commands;
using support::source_directory;
using testing::Contains;

/// README and the book.
std::vector<fs::path> book() {
  std::set<fs::path> pages{source_directory() / "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(source_directory() / "docs"))
    if (entry.path().extension() == ".md")
      pages.insert(entry.path());
  return {pages.begin(), pages.end()};
}

/// Every page of the source tree that links to others.
std::vector<fs::path> pages_with_links() {
  std::vector<fs::path> pages = book();
  for (const char* page : {"CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "examples/README.md"})
    pages.push_back(source_directory() / page);
  for (const auto& entry : fs::recursive_directory_iterator(source_directory() / "steps"))
    if (entry.path().extension() == ".md")
      pages.push_back(entry.path());
  return pages;
}

/// A page without its blocks of code, which hold no links and may be as wide as what they show.
std::vector<std::string> lines_of_text(const fs::path& page) {
  std::vector<std::string> lines;
  bool fenced = false;
  for (const std::string& line : split(read_file(page), "\n")) {
    const bool fence = line.starts_with("```");
    if (!fenced && !fence && !line.starts_with("    "))
      lines.push_back(line);
    else
      lines.emplace_back();
    fenced ^= fence;
  }
  return lines;
}

/// The anchor that a repository's web page makes of a heading.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading)
    if (c == ' ' || c == '-')
      anchor += '-';
    else if (std::isalnum(static_cast<unsigned char>(c)) || c == '_')
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return anchor;
}

std::set<std::string> anchors_of(const fs::path& page) {
  std::set<std::string> anchors;
  for (const std::string& line : lines_of_text(page))
    if (line.starts_with("#"))
      anchors.insert(anchor_of(std::string(strip(line.substr(line.find_first_not_of('#'))))));
  return anchors;
}

TEST(PagesTest, LinkToWhatExists) {
  static const Regex link(R"(\]\(([^)\s]+)\))");
  for (const fs::path& page : pages_with_links())
    for (const std::string& line : lines_of_text(page))
      for (const std::string& target : link.find_all(line)) {
        if (target.find("://") != std::string::npos)
          continue;
        const auto hash = target.find('#');
        const fs::path file = hash == 0 ? page : page.parent_path() / target.substr(0, hash);
        EXPECT_TRUE(fs::exists(file)) << page << ": " << target;
        if (hash != std::string::npos && fs::exists(file)) {
          EXPECT_THAT(anchors_of(file), Contains(target.substr(hash + 1)))
              << page << ": " << target;
        }
      }
}

/// A new page with command lines needs a test that runs them, and a place in this list.
TEST(PagesTest, HaveTestsThatRunTheirCommands) {
  std::map<std::string, std::string> tests{
      {"README.md", "TheLinesOfReadmeWork"},
      {"docs/background/performance.md", "TheMeasurementsExist"},
      {"docs/how-to/add_a_platform.md",
       "platforms_command_test.cpp; tests/slurm/platform_setup_test.cpp"},
      {"docs/how-to/chain_jobs.md", "tests/slurm/documents_test.cpp"},
      {"docs/how-to/check_a_machine.md", "doctor_command_test.cpp"},
      {"docs/how-to/measure_energy.md", "tests/energy and tests/slurm, documents_test.cpp"},
      {"docs/how-to/plan_a_sweep.md", "plan_command_test.cpp"},
      {"docs/how-to/share_a_node.md", "tests/energy/documents_test.cpp"},
      {"docs/how-to/use_an_allocation.md", "tests/slurm/documents_test.cpp"},
      {"docs/how-to/vary_power.md", "tests/energy/documents_test.cpp"},
      {"docs/install.md", "tests/package/archive_test.py"},
      {"docs/reference/batch.md", "tests/slurm/documents_test.cpp"},
      {"docs/reference/commands.md", "TheExamplesOfTheCommandsWork"},
      {"docs/reference/energy.md", "tests/energy and tests/slurm, documents_test.cpp"},
      {"docs/reference/node_power.md", "tests/energy/documents_test.cpp"},
      {"docs/reference/platforms.md", "platforms_command_test.cpp"},
      {"docs/reference/results.md", "TheLinesOfResultsWork"},
      {"docs/reference/workspace.md", "TheWorkspaceAnswersAsItsPageSays"},
      {"docs/tutorial/6_slurm.md", "tests/slurm/documents_test.cpp"},
  };
  for (const std::string& page : terminal_pages)
    tests["docs/" + page] = "documents_test.cpp, TutorialTest";
  std::vector<std::string> lines;
  for (const fs::path& page : book())
    for (const auto& command : document_commands(page)) {
      EXPECT_TRUE(tests.contains(page.lexically_relative(source_directory())))
          << page << ": " << command.line;
      lines.push_back(command.line);
    }
  for (const auto& [line, reason] : commands_not_run())
    EXPECT_THAT(lines, Contains(line)) << "not run, since it " << reason;
}

}  // namespace
}  // namespace bench::end_to_end
