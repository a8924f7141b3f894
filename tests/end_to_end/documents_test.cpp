// Every command line of README, docs and --help, as it is printed there.
#include "bench_program.hpp"
#include "support/document_commands.hpp"

#include <cstdlib>
#include <map>

#include <gmock/gmock.h>

#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using support::commands_not_run;
using support::commands_to_run;
using support::document_commands;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;

const fs::path source = fs::path(__FILE__).parent_path().parent_path().parent_path();

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
      fs::copy(source / directory, here_.path() / directory, fs::copy_options::recursive);
    for (const char* left : {"examples/runs", "examples/quickstart_run"})
      fs::remove_all(here_.path() / left);
    here_.write("vision", quick_training);
    fs::permissions(here_.path() / "vision", fs::perms::owner_all);
    here_.write("examples/quickstart.yaml",
                replace_all(read_file(source / "examples/quickstart.yaml"), "vision --model",
                            (here_.path() / "vision").string() + " --model"));
  }

  /// Runs a line here, as a person in the source tree would.
  CommandOutput shell(const std::string& line, const Environment& extra = {}) const {
    Environment variables{
        {"PATH", fs::path(BENCH_PROGRAM).parent_path().string() + ":" + std::getenv("PATH")}};
    variables.insert(variables.end(), extra.begin(), extra.end());
    ProcessSpec spec = here_.spec({}, variables);
    spec.arguments = {"bash", "-c", line};
    constexpr double far_too_long_s = 800;
    return run_command(std::move(spec), far_too_long_s);
  }

  void expect_success(const std::string& line, const Environment& extra = {}) const {
    const auto output = shell(line, extra);
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
  expect_commands(source / "README.md", "bench result examples/quickstart_run -s json");
}

TEST_F(DocumentsTest, TheExamplesOfTheCommandsWork) {
  expect_success("bench run examples/quickstart.yaml");
  expect_commands(source / "docs/commands.md", "bench tag examples/quickstart.yaml");
}

TEST_F(DocumentsTest, TheLinesOfResultsWork) {
  expect_success("bench run examples/quickstart.yaml");
  expect_commands(source / "docs/results.md",
                  "bench result examples/quickstart_run -s latex > table.tex");
}

TEST_F(DocumentsTest, TheWorkspaceAnswersAsItsPageSays) {
  if (!shell("command -v sqlite3").status.success())
    GTEST_SKIP() << "sqlite3 is not installed";
  expect_success("bench run examples/quickstart.yaml --result");
  const auto commands = commands_to_run(source / "docs/workspace.md");
  ASSERT_EQ(commands.size(), 1U);
  const auto output = shell(commands[0].line);
  EXPECT_THAT(output.standard_output, testing::HasSubstr("batch_size")) << output.standard_error;
}

TEST_F(DocumentsTest, TheExamplesOfHelpWork) {
  expect_success("bench run examples/quickstart.yaml");
  const std::string list = shell("bench --help").standard_output;
  int found = 0;
  for (const std::string& line : split(list.substr(list.find("Subcommands:")), "\n")) {
    if (!line.starts_with("  ") || line.starts_with("   "))
      continue;
    const std::string command = split_names(line, " ").at(0);
    const std::string help = shell("bench " + command + " --help").standard_output;
    const auto example = help.find("Example:\n");
    ASSERT_NE(example, std::string::npos) << command;
    expect_success(std::string(strip(help.substr(example + 9))));
    ++found;
  }
  EXPECT_GT(found, 15);
}

/// They take minutes to hours, so that they are only previewed.
TEST_F(DocumentsTest, TheMeasurementsExist) {
  const auto commands = commands_to_run(source / "docs/performance.md");
  EXPECT_THAT(commands, Not(IsEmpty()));
  for (const auto& command : commands)
    expect_success(replace_all(command.line, "--result", "-n"));
}

/// A new page with command lines needs a test that runs them, and a place in this list.
TEST(PagesTest, HaveTestsThatRunTheirCommands) {
  const std::map<std::string, std::string> tests{
      {"README.md", "TheLinesOfReadmeWork; tests/slurm/documents_test.cpp"},
      {"docs/batch.md", "tests/slurm/documents_test.cpp"},
      {"docs/commands.md", "TheExamplesOfTheCommandsWork"},
      {"docs/energy.md", "tests/energy/documents_test.cpp; tests/slurm/documents_test.cpp"},
      {"docs/node_power.md", "tests/energy/documents_test.cpp"},
      {"docs/performance.md", "TheMeasurementsExist"},
      {"docs/platforms.md", "platforms_command_test.cpp"},
      {"docs/results.md", "TheLinesOfResultsWork"},
      {"docs/workspace.md", "TheWorkspaceAnswersAsItsPageSays"},
  };
  std::vector<fs::path> pages{source / "README.md"};
  for (const auto& entry : fs::directory_iterator(source / "docs"))
    pages.push_back(entry.path());
  std::vector<std::string> lines;
  for (const fs::path& page : pages)
    for (const auto& command : document_commands(page)) {
      EXPECT_TRUE(tests.contains(page.lexically_relative(source))) << page << ": " << command.line;
      lines.push_back(command.line);
    }
  for (const auto& [line, reason] : commands_not_run())
    EXPECT_THAT(lines, Contains(line)) << "not run, since it " << reason;
}

}  // namespace
}  // namespace bench::end_to_end
