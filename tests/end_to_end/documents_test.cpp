// Every command line of README, docs and --help, as it is printed there.
#include "bench_program.hpp"

#include <cstdlib>

#include <gmock/gmock.h>

#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;

const fs::path source = fs::path(__FILE__).parent_path().parent_path().parent_path();

/// What trains in a moment, and prints what the quickstart looks for.
constexpr const char* stub = R"(#!/bin/sh
echo 'total images/sec: 5.0
time_per_step_mean_s=0.1
final_loss=1.5
trainable_parameters=7
images_per_second=5
result=ok'
)";

std::string without_comment(const std::string& line) {
  return std::string(strip(line.substr(0, line.find(" # "))));
}

/// The lines of indented blocks that call bench, with the prompt or without, and the last cells of
/// tables that hold such a line.
std::vector<std::string> command_lines(const std::string& document) {
  std::vector<std::string> lines;
  for (const std::string& line : split(document, "\n")) {
    std::string command;
    if (line.starts_with("    "))
      command = without_comment(line.starts_with("    $ ") ? line.substr(6) : line.substr(4));
    else if (line.starts_with("| ") && line.ends_with("` |"))
      command = line.substr(line.rfind('`', line.size() - 4) + 1,
                            line.size() - 3 - line.rfind('`', line.size() - 4) - 1);
    if (command.starts_with("bench ") || command.starts_with("bench-energy --list") ||
        command.starts_with("source "))
      lines.push_back(command);
  }
  return lines;
}

class DocumentsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* directory : {"examples", "benchmarks"})
      fs::copy(source / directory, here_.path() / directory, fs::copy_options::recursive);
    for (const char* left : {"examples/runs", "examples/quickstart_run"})
      fs::remove_all(here_.path() / left);
    here_.write("vision", stub);
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

  Playground here_;
};

TEST_F(DocumentsTest, TheLinesOfReadmeWork) {
  const auto lines = command_lines(read_file(source / "README.md"));
  EXPECT_THAT(lines, Contains("bench result examples/quickstart_run -s json"));
  for (const std::string& line : lines)
    if (line.find("batch_arrays") == std::string::npos)  // those need Slurm
      expect_success(line);
}

TEST_F(DocumentsTest, TheExamplesOfTheCommandsWork) {
  expect_success("bench run examples/quickstart.yaml");
  const auto lines = command_lines(read_file(source / "docs/commands.md"));
  EXPECT_THAT(lines, Contains("bench tag examples/quickstart.yaml"));
  for (const std::string& line : lines)
    expect_success(line);
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
  const auto lines = command_lines(read_file(source / "docs/performance.md"));
  EXPECT_THAT(lines, Not(IsEmpty()));
  for (const std::string& line : lines)
    expect_success(replace_all(line, "--result", "-n"));
}

}  // namespace
}  // namespace bench::end_to_end
