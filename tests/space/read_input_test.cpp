#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/error_of.hpp>
#include <support/temp_directory.hpp>

#include <bench/base/diagnostics.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/input.hpp>
#include <bench/space/run.hpp>

namespace bench::space {
namespace {

class ReadInput : public testing::Test {
 protected:
  Input read(Request request) const {
    Diagnostics diagnostics;
    request.input_file = files.path() / "in.yaml";
    Input input = read_input(request, diagnostics);
    warnings = diagnostics.warnings();
    return input;
  }
  /// The names of the benchmarks.
  std::string chosen(const Request& request) const {
    std::string names;
    for (const model::Benchmark& benchmark : read(request).benchmarks)
      names += benchmark.name;
    return names;
  }
  void write_three() const {
    files.write("in.yaml",
                "benchmark:\n"
                "  - {name: a, outpath: o, step: {name: s, do: x}}\n"
                "  - {name: b, outpath: o, step: {name: s, do: x}}\n"
                "  - {name: c, outpath: o, step: {name: s, do: x}}\n");
  }

  support::TempDirectory files;
  mutable std::vector<Warning> warnings;
};

TEST_F(ReadInput, ChoosesBenchmarks) {
  write_three();
  EXPECT_EQ(chosen({}), "abc");
  EXPECT_EQ(chosen({.only_benchmarks = {"c", "a"}}), "ca");
  EXPECT_EQ(chosen({.not_benchmarks = {"b"}}), "ac");
  EXPECT_EQ(chosen({.not_benchmarks = {"a,b,c"}}), "") << "nothing to do is not an error";
  EXPECT_THAT(support::error_of([&] { chosen({.only_benchmarks = {"zeta"}}); }),
              testing::HasSubstr("no benchmark is called 'zeta'"));
}

TEST_F(ReadInput, RefusesAFileWithoutBenchmarks) {
  files.write("in.yaml", "benchmark: []\n");
  EXPECT_THAT(support::error_of([&] { read({}); }),
              testing::HasSubstr("no benchmark in this file"));
}

TEST_F(ReadInput, SearchesTheGivenIncludePath) {
  files.write("there/do.yaml", "[x, y]\n");
  files.write("in.yaml", "name: d\nstep: {name: s, do: !include do.yaml}\n");
  const Input input = read({.include_path = {files.path() / "there"}});
  EXPECT_EQ(input.benchmarks.at(0).steps.at(0).commands.size(), 2U);
}

TEST_F(ReadInput, FindsThePlatformLibraryLast) {
  files.write("in.yaml",
              "name: d\nparameterset: {name: executeset, init_with: platform.xml}\n"
              "step: {name: s, use: executeset, do: x}\n");
  EXPECT_EQ(read({}).benchmarks.at(0).parameter_sets.at(0).parameters.at(0).text, "sbatch");
  files.write("platform.xml",
              "<jube><parameterset name='executeset'><parameter name='submit'>own</parameter>"
              "</parameterset></jube>");
  EXPECT_EQ(read({}).benchmarks.at(0).parameter_sets.at(0).parameters.at(0).text, "own");
}

TEST_F(ReadInput, TagsAreThoseOfTheRequestAndOfTheSelection) {
  files.write("in.yaml",
              "selection: {tag: file}\nname: d\nstep: {name: s, tag: file+line, do: x}\n");
  EXPECT_EQ(read({.tags = {"line"}}).tags, (std::set<std::string>{"file", "line"}));
}

TEST_F(ReadInput, WarnsOfATagThatTheFileNeverMentions) {
  files.write("in.yaml", "name: d\nstep: {name: s, do: {tag: gpu, _: x}}\n");
  read({.tags = {"gpus"}});
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].message, "tag 'gpus' selects nothing in this file, and no platform has it");
  EXPECT_EQ(warnings[0].hint, "did you mean 'gpu'?");
}

TEST_F(ReadInput, DoesNotWarnOfTagsOfTheRunThatItUpdates) {
  files.write("in.yaml", "name: d\nstep: {name: s, do: {tag: gpu, _: x}}\n");
  EXPECT_EQ(read({.tags_of_run = {"gpu", "old"}}).benchmarks.at(0).steps.at(0).commands.size(), 1U);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(ReadInput, KeepsTheTagOfThePlatformIfTheFileSelectsIt) {
  files.write("in.yaml", "selection: {tag: local}\nname: d\nstep: {name: s, tag: local, do: x}\n");
  EXPECT_EQ(read({}).tags, std::set<std::string>{"local"});
  EXPECT_TRUE(warnings.empty());
}

TEST_F(ReadInput, WarnsAScriptOfJubesOfTheTagLocal) {
  const std::string local = "tag 'local' is active, since no platform is chosen; in JUBE it is not";
  const std::string several = "the tags select several platforms: A100, slurm; 'local' is used";
  const std::string jube = "name: d\nstep: {name: s, do: [{tag: '!local', _: x}, y]}\n";
  const std::string plain = "name: d\nstep: {name: s, do: [{tag: A100+slurm, _: x}, y]}\n";
  const std::string own =
      "name: d\nstep: [{name: s, tag: local, do: x}, {name: t, tag: '!local', batch: {}, do: x}]\n";
  struct Case {
    std::string file;
    Request request;
    std::vector<std::string> warnings;
  };
  for (const Case& one : std::vector<Case>{{jube, {}, {local}},
                                           {jube, {.tags = {"local"}}, {}},
                                           {jube, {.platform = "local"}, {}},
                                           {jube, {.tags = {"slurm"}}, {}},
                                           {own, {}, {}},
                                           {plain, {}, {}},
                                           {plain, {.tags = {"A100", "slurm"}}, {several}}}) {
    files.write("in.yaml", one.file);
    EXPECT_EQ(read(one.request).benchmarks.size(), 1U);
    std::vector<std::string> messages;
    for (const Warning& warning : warnings)
      messages.push_back(warning.message);
    EXPECT_EQ(messages, one.warnings) << one.file << testing::PrintToString(one.request.tags);
  }
  files.write("in.yaml", own);
  EXPECT_THAT(support::error_of([&] {
                read({.tags = {"A100", "slurm"}});
              }),
              testing::HasSubstr("the tags select several platforms: A100, slurm\n"));
}

TEST_F(ReadInput, ChecksTheTags) {
  files.write("in.yaml", "name: d\ncheck_tags: a|b\nstep: {name: s, do: x}\n");
  EXPECT_THAT(support::error_of([&] { read({}); }),
              testing::HasSubstr("the tags must fulfil: a or b"));
  EXPECT_EQ(read({.tags = {"b"}}).benchmarks.size(), 1U);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(ReadInput, ABenchmarkMayHaveAnotherHome) {
  files.write("in.yaml",
              "benchmark:\n"
              "  - {name: a, outpath: o, file_path_ref: sub/.., step: {name: s, do: x}}\n"
              "  - {name: b, outpath: o, file_path_ref: sub, step: {name: s, do: x}}\n");
  const Input input = read({});
  const Request request{.input_file = files.path() / "in.yaml"};
  const auto home = [&](std::size_t k) {
    return plan_run(input, input.benchmarks.at(k), request).metadata.home;
  };
  EXPECT_EQ(home(0), files.path());
  EXPECT_EQ(home(1), files.path() / "sub");
}

TEST_F(ReadInput, APlatformMayBeDescribedAsATag) {
  files.write("in.yaml",
              "name: d\ntags: {tag: {name: slurm, _: on a cluster}}\nstep: {name: s, do: x}\n");
  EXPECT_EQ(read({}).benchmarks.size(), 1U);
}

}  // namespace
}  // namespace bench::space
