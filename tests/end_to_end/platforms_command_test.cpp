#include "bench_program.hpp"

#include <cstddef>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// Two machines of the test's own.
class PlatformsTest : public testing::Test {
 protected:
  void SetUp() override {
    here_.write("data/platforms/fast.yaml",
                "name: fast\ntags: [quick]\ndescription: a fast machine\nsite: here\nstatus: live\n"
                "scheduler: slurm\ntemplate: slurm.job\n"
                "partition: {value: gpu, source: the manual}\n"
                "memory: {unconfirmed: 480G, source: a guess}\n"
                "prologue: |\n  module load a\n  module load b\n"
                "machine:\n  source: the paper\n  modules_per_node: 4\n  devices_per_node: 8\n"
                "accelerator:\n  source: the vendor\n  name: MI250\n"
                "  peak_fp16_tflops: {unconfirmed: 362.1, source: hearsay}\n"
                "notes: [Beware.]\n");
    here_.write("data/platforms/local.yaml",
                "name: local\ndescription: this\nscheduler: none\ntemplate: local.job\n");
  }
  CommandOutput bench(const std::vector<std::string>& arguments) const {
    return here_.bench(arguments, {{"BENCH_DATA", (here_.path() / "data").string()},
                                   {"BENCH_PARTITION", ""},
                                   {"BENCH_ACCOUNT", ""},
                                   {"BENCH_QOS", ""}});
  }
  Playground here_;
};

TEST_F(PlatformsTest, AreListed) {
  const auto list = bench({"platforms"});
  EXPECT_EQ(list.status.code, 0) << list.standard_error;
  EXPECT_THAT(
      list.standard_output,
      AllOf(ContainsRegex("\\| +tag \\| +site \\| +scheduler \\| +devices per node \\|"),
            ContainsRegex("\\| +fast \\| +here \\| +slurm \\| +8 \\(4 MI250\\) \\| +362.1\\? "
                          "\\| +live \\| +site \\|\n"),
            ContainsRegex("\\| +local \\| +\\| +none \\| +\\| +\\| +unknown \\| +site \\|\n"),
            ContainsRegex("\ndata/platforms/local.yaml hides [^\n]*/platforms/local.yaml\n"),
            HasSubstr("? unconfirmed; `bench platforms show TAG` shows the sources\n")));
}

TEST_F(PlatformsTest, ABrokenFileKeepsNobodyFromTheOthers) {
  here_.write("data/platforms/owl.yaml", "name: owl\ndescription: x\nshceduler: none\n");
  std::filesystem::create_symlink("nowhere", here_.path() / "data/platforms/gone.yaml");
  here_.write("in.yaml", "name: a\noutpath: bench_run\nstep: {name: s, do: echo}\n");
  const auto list = bench({"platforms"});
  EXPECT_EQ(list.status.code, 0);
  EXPECT_THAT(list.standard_output, AllOf(HasSubstr(" fast |"), Not(HasSubstr(" owl |"))));
  EXPECT_THAT(
      list.standard_error,
      AllOf(ContainsRegex("data/platforms/owl.yaml:3:1: warning: platform owl is left out: [^\n]*"
                          "shceduler[^\n]*\n"),
            HasSubstr("hint: did you mean 'scheduler'?"),
            ContainsRegex("data/platforms/gone.yaml: warning: platform gone is left out: ")));
  const auto another = bench({"run", "in.yaml", "--tag", "quick", "-n"});
  EXPECT_EQ(another.status.code, 0) << another.standard_error;
  for (const char* broken : {"owl", "gone"}) {
    const auto used = bench({"run", "in.yaml", "--platform", broken});
    EXPECT_EQ(used.status.code, 1);
    EXPECT_THAT(used.standard_error, AllOf(HasSubstr("error: "), HasSubstr(broken)));
  }
  EXPECT_FALSE(here_.has("bench_run"));
}

TEST_F(PlatformsTest, ThoseOfEveryPlaceAreFoundInOrder) {
  const std::string text = "description: x\nscheduler: none\ntemplate: local.job\n";
  for (const char* place : {"there/platforms", "home/bench/platforms", "path", "data/platforms"})
    here_.write(place + std::string("/owl.yaml"), "name: owl\n" + text);
  here_.write("there/in.yaml", "name: a");
  const auto origin = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"platforms"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto list =
        here_.bench(arguments, {{"BENCH_DATA", (here_.path() / "data").string()},
                                {"BENCH_PLATFORM_PATH", (here_.path() / "path").string()},
                                {"XDG_CONFIG_HOME", (here_.path() / "home").string()}});
    for (const std::string& line : split(list.standard_output, "\n"))
      if (line.find(" owl |") != std::string::npos)
        return split_values(line, "|").at(7);
    return list.standard_error;
  };
  EXPECT_EQ(origin({"--for", "there/in.yaml"}), "run");
  EXPECT_THAT(here_.text_of("platforms", {"show", "owl", "--for", "there/in.yaml"}, 0),
              HasSubstr("there/"));
  EXPECT_EQ(origin({}), "user");
  std::filesystem::remove(here_.path() / "home/bench/platforms/owl.yaml");
  EXPECT_EQ(origin({}), "site");
  std::filesystem::remove(here_.path() / "data/platforms/owl.yaml");
  EXPECT_EQ(origin({}), "site");
}

TEST_F(PlatformsTest, ANewOneIsNeverWrittenOverAnother) {
  here_.write("empty/.keep", "");
  const auto make = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"platforms", "new"});
    // Without Slurm on PATH it describes this machine.
    return here_.bench(std::move(options), {{"PATH", (here_.path() / "empty").string()},
                                            {"XDG_CONFIG_HOME", (here_.path() / "home").string()}});
  };
  EXPECT_THAT(
      make({"owl"}).standard_output,
      StartsWith("wrote home/bench/platforms/owl.yaml: try it with `bench platforms show "));
  const std::string written = here_.read("home/bench/platforms/owl.yaml");
  EXPECT_EQ(make({"owl", "-n"}).standard_output, written);
  const auto again = make({"owl"});
  EXPECT_EQ(again.status.code, 1);
  EXPECT_EQ(again.standard_error,
            "error: home/bench/platforms/owl.yaml exists\n"
            "hint: remove it, or select another file with --output\n");
  EXPECT_EQ(here_.read("home/bench/platforms/owl.yaml"), written);
  EXPECT_THAT(make({"owl", "-o", "fox.yaml"}).standard_error,
              HasSubstr("error: fox.yaml is not the file of platform owl"));
  for (const char* name : {"a b", "fox.yaml"})
    EXPECT_THAT(make({name}).standard_error,
                HasSubstr(fmt::format("error: invalid platform name '{}'", name)));
  EXPECT_THAT(make({"fox", "-o", "a b/fox.yaml"}).standard_output,
              testing::EndsWith("try it with `bench platforms show 'a b/fox.yaml'`\n"));
}

TEST_F(PlatformsTest, AreShownWithTheirSources) {
  const auto shown = bench({"platforms", "show", "fast"});
  EXPECT_EQ(shown.status.code, 0) << shown.standard_error;
  EXPECT_EQ(shown.standard_output,
            "fast (a fast machine):\n"
            "  tags    quick\n"
            "  site    here\n"
            "  status  live\n"
            "  file    data/platforms/fast.yaml\n"
            "\njob requests:\n"
            "  scheduler                  slurm\n"
            "  template                   slurm.job\n"
            "  partition                  gpu  [the manual]\n"
            "  gpu_request                none\n"
            "  memory                     480G  [unconfirmed: a guess]\n"
            "  polling.interval           15s\n"
            "  polling.jobs_per_question  5000\n"
            "  polling.sentinel_grace     5s\n"
            "\nprogram launch:\n"
            "  prologue  module load a\n"
            "            module load b\n"
            "\nmachine:\n"
            "  machine.modules_per_node      4  [the paper]\n"
            "  machine.devices_per_node      8  [the paper]\n"
            "  accelerator.name              MI250  [the vendor]\n"
            "  accelerator.peak_fp16_tflops  362.1  [unconfirmed: hearsay]\n"
            "\nnotes:\n"
            "  - Beware.\n");
  EXPECT_EQ(bench({"platforms", "show", "quick"}).standard_output, shown.standard_output);
}

TEST_F(PlatformsTest, WhatCannotBeMeantIsRefused) {
  const auto wrong = bench({"platforms", "show", "fats"});
  EXPECT_EQ(wrong.status.code, 1);
  EXPECT_EQ(wrong.standard_error, "error: unknown platform 'fats'\nhint: did you mean 'fast'?\n");
  EXPECT_THAT(wrong.standard_output, IsEmpty());
  const auto local = bench({"platforms", "check", "local"});
  EXPECT_EQ(local.status.code, 1);
  EXPECT_THAT(local.standard_error, HasSubstr("error: platform local has no batch system"));
  EXPECT_EQ(bench({"platforms", "show"}).status.code, 2);
  EXPECT_EQ(bench({"platforms", "shwo", "fast"}).status.code, 2);
  EXPECT_EQ(bench({"platforms", "show", "fast", "-v"}).status.code, 0);
}

TEST_F(PlatformsTest, ATagChoosesThePlatform) {
  here_.write("plain.yaml", "name: plain\noutpath: runs\nstep: {name: a, do: echo}\n");
  for (const std::vector<std::string>& choice :
       {std::vector<std::string>{"--tag", "quick"}, {"--tag", "fast"}, {"--platform", "quick"}}) {
    std::vector<std::string> arguments{"check", "plain.yaml", "--strict"};
    arguments.insert(arguments.end(), choice.begin(), choice.end());
    const auto check = bench(arguments);
    EXPECT_EQ(check.status.code, 0) << check.standard_error;
    EXPECT_THAT(check.standard_output,
                StartsWith("benchmark plain: 1 step, 1 workpackage, platform fast\n"));
  }
}

/// What docs/how-to/add_a_platform.md says, done as it says.
class OwnPlatformTest : public testing::Test {
 protected:
  /// The text between two headings.
  static std::string section(const std::string& page, const std::string& heading) {
    const std::string begin = "\n## " + heading + "\n";
    const auto at = page.find(begin);
    return page.substr(at, page.find("\n## ", at + begin.size()) - at);
  }
  std::filesystem::path source_ = std::filesystem::path(BENCHMARKS_DIRECTORY).parent_path();
  Playground here_;
  std::vector<std::pair<std::string, std::string>> home_{
      {"XDG_CONFIG_HOME", (here_.path() / "home").string()}};
};

TEST_F(OwnPlatformTest, IsFoundAndUsedAsThePageSays) {
  const std::string page = read_file(source_ / "docs/how-to/add_a_platform.md");
  const auto blocks = split(section(page, "A new machine"), "```");
  ASSERT_EQ(blocks.size(), 5U);
  for (const std::size_t block : {1U, 3U}) {
    const std::string yaml = blocks[block].substr(blocks[block].find('\n') + 1);
    const std::string name = split(split(yaml, "name: ").at(1), "\n").front();
    here_.write(name.substr(0, 3) + ".yaml", yaml);
  }
  for (const char* folder : {"examples", "benchmarks"})
    std::filesystem::create_directory_symlink(source_ / folder, here_.path() / folder);
  int commands = 0;
  const std::string reference = read_file(source_ / "docs/reference/platforms.md");
  for (const std::string& line : split(page + reference, "\n"))
    if (line.starts_with("    bench ") && line.find(" platforms check ") == std::string::npos &&
        line.find(" --partition ") == std::string::npos) {  // tests/slurm has those
      const auto words = split_names(split(line, "#").front(), " ");
      const auto done = here_.bench({words.begin() + 1, words.end()}, home_);
      EXPECT_EQ(done.status.code, 0) << line << "\n" << done.standard_error;
      EXPECT_THAT(done.standard_output, Not(IsEmpty())) << line;
      ++commands;
    }
  EXPECT_EQ(commands, 8);
  const auto run = here_.bench({"run", "examples/35_batch.yaml", "--platform", "./owl.yaml", "-n"});
  EXPECT_THAT(run.standard_output, AllOf(HasSubstr("#SBATCH --partition=test"),
                                         HasSubstr("export NCCL_SOCKET_IFNAME=ib0")));
}

TEST_F(OwnPlatformTest, IsFoundBesideTheInputFileWithItsTemplate) {
  here_.write("there/fox.yaml", "{name: fox, scheduler: slurm, template: own.job}");
  here_.write("there/own.job", "#!/bin/bash\n#SBATCH --comment={{uuid}}\n# own\n{{body}}");
  const auto run =
      here_.run("there/in.yaml", "{name: a, outpath: runs, step: {name: s, batch: true, do: echo}}",
                {"--platform", "fox", "-n"});
  EXPECT_THAT(run.standard_output, HasSubstr("# own"));
}

/// Every file that comes with bench, in one table.
TEST(ShippedPlatformsTest, AreListedInAlignedLines) {
  const Playground here;
  const auto list = here.bench({"platforms"});
  EXPECT_EQ(list.status.code, 0) << list.standard_error;
  std::vector<std::string> lines = split(list.standard_output, "\n");
  ASSERT_GT(lines.size(), 32u);
  lines.resize(lines.size() - 2);  // The legend and what follows the last newline.
  std::vector<std::size_t> widths;
  for (const std::string& line : lines)
    widths.push_back(display_width(line));
  EXPECT_THAT(widths, Each(widths.front()));
  EXPECT_THAT(list.standard_output,
              AllOf(HasSubstr("|            LUMI-G |             CSC |      slurm |           8 (4 "
                              "AMD MI250X) |                383 |     live | bench |\n"),
                    HasSubstr("historic"), Not(HasSubstr("\x1b"))));
}

}  // namespace
}  // namespace bench::end_to_end
