#include "energy/program_fixture.hpp"
#include "support/document_commands.hpp"
#include "support/environment_variable.hpp"
#include "support/source_directory.hpp"
#include "support/temp_directory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/options.hpp>

namespace bench::energy {
namespace {

using support::commands_to_run;
using support::DocumentCommand;
using testing::AllOf;

// The command lines of the pages about energy, run by the real bench-energy as they are written, on
// fake devices. Those that need Slurm are in tests/slurm/documents_test.cpp.

namespace fs = std::filesystem;

const fs::path docs = support::source_directory() / "docs";

/// A site with an H100 that is half busy, two outlets of a PDU at 200 W each, and a command that
/// prints a node's power.
class DocumentedSite : public testing::Test {
 protected:
  DocumentedSite() {
    program("train", "sleep 0.5");
    // For estimates by the work of the CPU, of which an idle machine shows none.
    program("train_on_cpu", "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done");
    program("snmpget", "echo 200; echo 200");
    program("node-power", "echo 412");
    here_.write("train.py", "import time; time.sleep(0.5)");
  }

  void program(const std::string& name, const std::string& text) const {
    const auto file = here_.support::TempDirectory::write(name, "#!/bin/sh\n" + text + "\n");
    fs::permissions(file, fs::perms::owner_all);
  }

  CommandOutput type(const std::string& line) const {
    ProcessSpec spec;
    spec.arguments = {"bash", "-c", line};
    spec.directory = here_.path();
    return run(std::move(spec),
               {{"PATH", here_.path().string() + ":" +
                             fs::path(BENCH_ENERGY_PROGRAM).parent_path().string() + ":" +
                             std::getenv("PATH")},
                {"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY},
                {"FAKE_NVML_UTILIZATION", "50"},
                {"FAKE_NVML_SETTINGS", here_.path().string()},
                {"SLURM_PROCID", "0"}});
  }

  bool has_hdf5() const {
    return type("bench-energy --method mock:constant=1W --out h5 --format h5 -- true")
        .status.success();
  }

  /// What must be there before the line is typed: files of other nodes, or of a killed meter.
  void prepare(const std::string& line) const {
    if (line.starts_with("bench-energy recover"))
      kill_a_meter(split_names(line, " ").at(2),
                   line.find("--suffix rank3") == std::string::npos ? "" : "--suffix rank3 ");
    if (line.starts_with("bench-energy combine")) {
      int rank = 0;
      for (const std::string& word : split_names(line.substr(0, line.find(" --output")), " "))
        if (word.ends_with(".csv"))
          file_of_rank(word, rank++);
      for (const std::string& word : split_names(line, " "))
        if (word.ends_with("/") && !fs::exists(here_.path() / word)) {
          EXPECT_EQ(type("bench-energy --out " + word + " -- ./train").status.code, 0);
        }
    }
  }

  void expect_success(const std::string& line) const {
    prepare(line);
    const auto output = type(line);
    EXPECT_EQ(output.status.code, 0) << line << "\n" << output.standard_error;
  }

  TemporaryDirectory here_;

 private:
  void kill_a_meter(const std::string& directory, const std::string& options) const {
    fs::remove_all(here_.path() / directory);
    EXPECT_FALSE(type("exec bench-energy --out " + directory + " " + options +
                      "-- sh -c 'sleep 1; kill -KILL $PPID'")
                     .status.success());
  }

  void file_of_rank(const std::string& name, int rank) const {
    const std::string node = "n" + std::to_string(rank);
    std::string text = ",0\npynvml:0,0.25\nnodename," + node + "\nrank," + std::to_string(rank);
    if (!name.starts_with("GH200")) {
      EXPECT_EQ(type("bench-energy --out one -- ./train").status.code, 0);
      EXPECT_EQ(type("sed -i \"s/$(uname -n)/" + node + "/\" one/energy.csv").status.code, 0);
      text = read_file(here_.path() / "one/energy.csv");
    }
    here_.write(name, text);
  }
};

using EnergyPageTest = DocumentedSite;

TEST_F(EnergyPageTest, ItsCommandsWork) {
  std::vector<DocumentCommand> commands;
  for (const char* page :
       {"reference/energy.md", "how-to/measure_energy.md", "how-to/share_a_node.md",
        "how-to/vary_power.md", "tutorial/7_energy.md"})
    for (const DocumentCommand& command : commands_to_run(docs / page))
      if (command.line.starts_with("bench-energy"))
        commands.push_back(command);
  ASSERT_GE(commands.size(), 14U);
  const bool any_format = has_hdf5();
  for (const DocumentCommand& command : commands) {
    const bool as_jpwr = command.line.find("--df-out") != std::string::npos;
    const bool needs_hdf5 = as_jpwr && command.line.find("--df-filetype csv") == std::string::npos;
    if (any_format || !needs_hdf5)
      expect_success(command.line);
  }
}

using NodePowerPageTest = DocumentedSite;

TEST_F(NodePowerPageTest, ItsCommandsWork) {
  const auto commands = commands_to_run(docs / "reference/node_power.md");
  ASSERT_EQ(commands.size(), 3U);
  // ./train takes half a second, for which a value every five seconds tells nothing.
  const std::string site =
      replace_all(replace_all(commands[0].line, "/opt/site/bin/", "./"), "/5s=", "/100ms=");
  EXPECT_THAT(values(type(site).standard_error),
              AllOf(testing::Contains(testing::Pair("energy_source", "command")),
                    testing::Contains(testing::Pair("power_mean_w", "412"))));
  EXPECT_THAT(values(type(replace_all(commands[1].line, "/5s=", "/100ms=")).standard_error),
              testing::Contains(testing::Pair("power_mean_w", "400")));
  here_.write("powerout.csv", "10:00:00,409,428\n10:00:01,412,431");
  const std::string file =
      replace_all(replace_all(commands[2].line, "~/", "./"), "pdu=", "pdu/100ms=");
  EXPECT_THAT(values(type(file).standard_error),
              AllOf(testing::Contains(testing::Pair("power_node_mean_w", "412")),
                    testing::Contains(testing::Pair("power_node_apparent_mean_va", "431"))));
}

/// The list of estimates: a method and what it is, per line.
TEST_F(NodePowerPageTest, ItsEstimatesAreMethods) {
  int methods = 0;
  for (const std::string& line : split(read_file(docs / "reference/node_power.md"), "\n")) {
    if (!line.starts_with("    model:"))
      continue;
    const std::string method = line.substr(4, line.find(' ', 4) - 4);
    EXPECT_THAT(
        values(type("bench-energy --method " + method + " -- ./train_on_cpu").standard_error),
        testing::Contains(testing::Pair("energy_quality", "estimated")))
        << method;
    ++methods;
  }
  EXPECT_EQ(methods, 4);
}

// docs/reference/energy.md against the program.

std::string page() {
  return read_file(support::source_directory() / "docs/reference/energy.md");
}

/// The words behind `bench-energy` in every indented line that has it.
std::vector<std::vector<std::string>> examples() {
  std::vector<std::vector<std::string>> result;
  for (const std::string& line : split(page(), "\n")) {
    std::vector<std::string> words = split_names(replace_all(line, "'", ""), " ");
    const auto program = std::ranges::find(words, "bench-energy");
    if (line.starts_with("    ") && program != words.end())
      result.emplace_back(program + 1, words.end());
  }
  return result;
}

TEST(Documentation, HasExamplesThatTheProgramTakes) {
  const support::EnvironmentVariable rank("SLURM_PROCID", "0");
  ASSERT_GE(examples().size(), 8U);
  for (const std::vector<std::string>& words : examples()) {
    SCOPED_TRACE(join(words, " "));
    if (words[0] == "combine")
      EXPECT_NO_THROW(parse_combine_options({words.begin() + 1, words.end()}));
    else if (words[0] == "recover")
      EXPECT_NO_THROW(parse_recover_options({words.begin() + 1, words.end()}));
    else
      EXPECT_NO_THROW(parse_options(words));
  }
}

TEST(Documentation, NamesEveryColumn) {
  const std::string text = page();
  for (const EnergyColumn& column : energy_table({}, {}).columns)
    EXPECT_NE(text.find("`" + column.name + "`"), std::string::npos) << column.name;
}

TEST(Documentation, NamesEveryOption) {
  const std::string text = page();
  std::size_t options = 0;
  for (const std::string& line : split(parse_options({"--help"}).help, "\n"))
    if (line.starts_with("  --")) {
      const std::string name = line.substr(2, line.find_first_of(" ,", 2) - 2);
      EXPECT_NE(text.find("| `" + name), std::string::npos) << name;
      ++options;
    }
  EXPECT_GE(options, 11U);
}

TEST(Documentation, NamesEveryMemberOfTheProvenance) {
  const std::string text = page();
  for (const auto& [name, value] : provenance_values({}, {}))
    EXPECT_NE(text.find("`" + name + "`"), std::string::npos) << name;
}

}  // namespace
}  // namespace bench::energy
