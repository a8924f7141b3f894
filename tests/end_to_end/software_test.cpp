// What a run records of its nodes and of the programs on them.
#include "bench_program.hpp"
#include "support/patience.hpp"

#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <bench/base/hash.hpp>
#include <bench/base/host.hpp>
#include <bench/base/process.hpp>

namespace bench::end_to_end {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class SoftwareTest : public testing::Test {
 protected:
  /// Runs a step until the meter has written down its programs, and exports the run.
  /// @param command starts a program `tail` in the background
  json environment(const std::string& command, const Environment& extra = {}) const {
    here_.write("file.yaml", R"(name: b
outpath: runs
step:
  name: s
  batch: true
  energy: {methods: "mock:constant=1W"}
  do:
    - |
      )" + command + R"(
      until ls ../../environment/tail.* > /dev/null 2>&1; do sleep 0.05; done
      kill $!
)");
    Environment variables{{"XDG_CACHE_HOME", (here_.path() / "cache").string()}};
    variables.insert(variables.end(), extra.begin(), extra.end());
    const CommandOutput output = here_.bench({"run", "file.yaml"}, variables);
    EXPECT_EQ(output.status.code, 0) << output.standard_output << output.standard_error;
    here_.text_of("export", {"runs", "--output", "out"}, 0);
    return json::parse(here_.read("out/environment.json"));
  }
  std::string value(const json& environment, const char* name) const {
    EXPECT_TRUE(environment.at(name).contains("value")) << environment.at(name);
    return environment.at(name).value("value", "");
  }
  Playground here_;
};

TEST_F(SoftwareTest, TheLibrariesOfProgramsAreKnownByTheirHashes) {
  const json all = environment("tail -f /dev/null &");
  const std::string libraries = value(all, "libraries");
  EXPECT_THAT(libraries, AllOf(HasSubstr("/tail\n"), HasSubstr("/libc.so."), HasSubstr("/ld-linux"),
                               Not(HasSubstr("unknown"))));
  here_.write("libraries", libraries + "\n");
  ProcessSpec check = here_.spec({});
  check.arguments = {"sha256sum", "--check", "--strict", "--quiet", "libraries"};
  EXPECT_TRUE(run_command(check, support::far_too_long_s).status.success()) << libraries;
  EXPECT_THAT(value(all, "nodes"), testing::StartsWith(host_name() + ": "));
  EXPECT_THAT(here_.read("cache/bench/file_hashes"), HasSubstr("/tail\n"));
  EXPECT_THAT(all.at("container_digest").value("absent", ""), HasSubstr("container"));
}

TEST_F(SoftwareTest, ACompilerIsTheOneThatTheProgramNames) {
  const json all = environment(
      "bench-energy --method mock:constant=1W -- tail -f /dev/null & meter=$!\n"
      "      until ls ../../environment/bench-energy.* > /dev/null 2>&1; do sleep 0.05; done");
  EXPECT_THAT(value(all, "compiler"), AllOf(HasSubstr("/bench-energy: "),
                                            testing::AnyOf(HasSubstr("GCC"), HasSubstr("clang"))));
}

TEST_F(SoftwareTest, AProgramThatIsCalledNodeIsNoNode) {
  const json all = environment(
      "cp \"$(command -v tail)\" node; ./node -f /dev/null & node=$!\n"
      "      tail -f /dev/null &\n"
      "      until grep -qs ^program= ../../environment/node.*; do sleep 0.05; done\n"
      "      kill $node");
  EXPECT_THAT(value(all, "nodes"),
              AllOf(testing::StartsWith(host_name() + ": "), Not(HasSubstr("program="))));
  EXPECT_THAT(value(all, "libraries"), HasSubstr("/node\n"));
}

TEST_F(SoftwareTest, AContainerIsKnownByTheHashOfItsImage) {
  here_.write("torch.sif", "an image");
  const std::string image = (here_.path() / "torch.sif").string();
  const json all = environment("APPTAINER_CONTAINER=" + image + " tail -f /dev/null &");
  EXPECT_EQ(value(all, "container"), image);
  EXPECT_EQ(value(all, "container_digest"), sha256("an image") + "  " + image);
}

TEST_F(SoftwareTest, WhatIsNotRecordedSaysWhy) {
  here_.write("file.yaml", "name: b\noutpath: runs\nstep: {name: s, do: 'true'}\n");
  here_.text_of("run", {"file.yaml"}, 0);
  here_.text_of("export", {"runs", "--output", "out"}, 0);
  const json all = json::parse(here_.read("out/environment.json"));
  for (const char* name : {"nodes", "compiler", "libraries"})
    EXPECT_THAT(all.at(name).value("absent", ""), HasSubstr("steps with `energy`")) << name;
}

}  // namespace
}  // namespace bench::end_to_end
