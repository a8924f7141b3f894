// Every command line of README, docs and --help, as it is printed there.
#include "bench_program.hpp"
#include "support/document_commands.hpp"
#include "support/patience.hpp"
#include "support/report_library.hpp"
#include "support/source_directory.hpp"
#include "support/tutorial.hpp"
#include "terminal_pages.hpp"

#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using support::commands_to_run;
using support::source_directory;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;

/// What trains in a moment, and prints what the quickstart looks for.
constexpr const char* quick_training = R"(#!/bin/sh
echo 'total images/sec: 5.0
time_per_step_mean_s=0.1
final_loss=1.5
trainable_parameters=7
images_per_second=5
result=ok'
)";

class DocumentsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* directory : {"examples", "benchmarks"})
      fs::copy(source_directory() / directory, here_.path() / directory,
               fs::copy_options::recursive);
    for (const char* left : {"examples/runs", "examples/quickstart_run"})
      fs::remove_all(here_.path() / left);
    here_.write("vision", quick_training);
    fs::permissions(here_.path() / "vision", fs::perms::owner_all);
    here_.write("examples/quickstart.yaml",
                replace_all(read_file(source_directory() / "examples/quickstart.yaml"),
                            "vision --model", (here_.path() / "vision").string() + " --model"));
  }

  /// Runs a line as a person in the source tree would.
  void expect_success(const std::string& line, const Environment& extra = {}) const {
    if (line.starts_with("bench report") && !support::has_report_library(BUILD_DIRECTORY))
      return;
    const auto output = here_.shell(line, extra);
    EXPECT_EQ(output.status.code, 0) << line << "\n" << output.standard_error;
  }

  void expect_commands(const fs::path& page, const std::string& one_of_them) const {
    std::vector<std::string> lines;
    for (const auto& command : commands_to_run(page))
      lines.push_back(command.line);
    EXPECT_THAT(lines, Contains(one_of_them));
    for (const std::string& line : lines)
      expect_success(line);
  }

  Playground here_;
};

TEST_F(DocumentsTest, TheLinesOfReadmeWork) {
  for (const auto& [name, text] : support::files_of_readme())
    here_.write(name, text);
  expect_commands(source_directory() / "README.md", "bench result sweep_run --style csv");
}

TEST_F(DocumentsTest, TheExamplesOfTheCommandsWork) {
  expect_success("bench run examples/quickstart.yaml");
  expect_commands(source_directory() / "docs/reference/commands.md",
                  "bench tag examples/quickstart.yaml");
}

TEST_F(DocumentsTest, TheLinesOfResultsWork) {
  expect_success("bench run examples/quickstart.yaml");
  expect_commands(source_directory() / "docs/reference/results.md",
                  "bench result examples/quickstart_run -s latex > table.tex");
}

TEST_F(DocumentsTest, TheWorkspaceAnswersAsItsPageSays) {
  if (!here_.shell("command -v sqlite3").status.success())
    GTEST_SKIP() << "sqlite3 is not installed";
  expect_success("bench run examples/quickstart.yaml --result");
  const auto commands = commands_to_run(source_directory() / "docs/reference/workspace.md");
  ASSERT_EQ(commands.size(), 1U);
  const auto output = here_.shell(commands[0].line);
  EXPECT_THAT(output.standard_output, testing::HasSubstr("batch_size")) << output.standard_error;
}

TEST_F(DocumentsTest, TheExamplesOfHelpWork) {
  expect_success("bench run examples/quickstart.yaml");
  const std::string list = here_.shell("bench --help").standard_output;
  int found = 0;
  for (const std::string& line : split(list.substr(list.find("\nRun:\n")), "\n")) {
    if (!line.starts_with("  ") || line.starts_with("   "))
      continue;
    const std::string command = split_names(line, " ").at(0);
    const std::string help = here_.shell("bench " + command + " --help").standard_output;
    const auto example = help.find("Example:\n");
    ASSERT_NE(example, std::string::npos) << command;
    const std::string shown(strip(help.substr(example + 9)));
    if (support::is_run(shown))
      expect_success(shown);
    ++found;
  }
  EXPECT_GT(found, 15);
}

/// Pages that show what a terminal shows, each in an empty directory. tests/slurm has the one that
/// needs Slurm.
class TutorialTest : public testing::TestWithParam<std::string> {
 protected:
  std::string terminal(const std::string& command) const {
    Environment environment = current_environment();
    std::erase_if(environment, [](const auto& variable) {
      return variable.first.starts_with("BENCH_") || variable.first.starts_with("JUBE_");
    });
    const std::string programs = fs::path(BENCH_PROGRAM).parent_path();
    set_variable(environment, "PATH", programs + ":" + std::getenv("PATH"));
    const auto output = run_command({.arguments = {"bash", "-c", "{ " + command + "\n} 2>&1"},
                                     .directory = here_.path(),
                                     .environment = std::move(environment)},
                                    support::far_too_long_s);
    EXPECT_EQ(output.status.code, 0) << command << "\n" << output.standard_output;
    return replace_all(output.standard_output, here_.path().string(), "/home/ada");
  }

  Playground here_;
};

TEST_P(TutorialTest, ShowsWhatATerminalShows) {
  const fs::path file = source_directory() / "docs" / GetParam();
  if (file.stem() == "make_a_report" && !support::has_report_library(BUILD_DIRECTORY))
    GTEST_SKIP() << "npm has not fetched Vega";
  const std::string page = read_file(file);
  if (page.find("$ coproc bench serve") != std::string::npos && std::string(SERVE_LIBRARY).empty())
    GTEST_SKIP() << "bench was built without cpp-httplib";
  for (const auto& [name, text] : support::files_to_save(page))
    here_.write(name, text);
  const std::string shown = support::with_output_of(
      [this](const std::string& command) { return terminal(command); }, page);
  if (const char* update = std::getenv("BENCH_UPDATE_EXPECTED"); update && *update)
    write_file_atomically(file, shown);
  else
    EXPECT_EQ(support::without_measurements(shown), support::without_measurements(page));
}

INSTANTIATE_TEST_SUITE_P(Pages, TutorialTest, testing::ValuesIn(terminal_pages),
                         [](const auto& page) {
                           const std::string name = fs::path(page.param).stem();
                           return name.substr(name.find_first_not_of("0123456789_"));
                         });

TEST(LanguageReferenceTest, IsTheOutputOfHelp) {
  const Playground here;
  const auto help = here.bench({"help", "--markdown"});
  EXPECT_EQ(help.standard_output, read_file(source_directory() / "docs/reference/language.md"))
      << "after a change: bench help --markdown > docs/reference/language.md";
}

/// They take minutes to hours, so that they are only previewed.
TEST_F(DocumentsTest, TheMeasurementsExist) {
  const auto commands = commands_to_run(source_directory() / "docs/background/performance.md");
  EXPECT_THAT(commands, Not(IsEmpty()));
  for (const auto& command : commands)
    expect_success(replace_all(command.line, "--result", "-n"));
}

}  // namespace
}  // namespace bench::end_to_end
