// Pipes, devices and links where bench expects a file.
#include "bench_program.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <sys/stat.h>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SpecialFiles : public testing::Test {
 protected:
  Playground here_;
};

TEST_F(SpecialFiles, ACommandThatPutsAPipeInPlaceOfItsOutputFails) {
  const auto output =
      here_.run("in.yaml",
                "name: p\noutpath: runs\nstep: {name: s, do: ['rm stdout; mkfifo stdout', echo no, "
                "echo end]}\n",
                {}, 1);
  EXPECT_THAT(output.standard_error, HasSubstr("work/stdout: it is not a regular file"));
}

TEST_F(SpecialFiles, APipeInPlaceOfTheLastCommandsOutputIsNotWaitedFor) {
  const auto output =
      here_.run("in.yaml",
                "name: p\noutpath: runs\nstep: {name: s, do: 'rm stderr; mkfifo stderr ../error; "
                "exit 1'}\n",
                {}, 1);
  EXPECT_THAT(output.standard_error, HasSubstr("exit code 1"));
}

TEST_F(SpecialFiles, ACommandThatReplacesItsDirectoryByALinkWritesNothingOutside) {
  fs::create_directory(here_.path() / "outside");
  const auto output =
      here_.run("in.yaml",
                "name: l\noutpath: runs\nstep: {name: s, do: ['mv ../work ../old; ln -s "
                "$jube_benchmark_home/outside ../work', echo no]}\n",
                {}, 1);
  EXPECT_THAT(output.standard_error, HasSubstr("through a link"));
  EXPECT_TRUE(fs::is_empty(here_.path() / "outside"));
}

/// A link is followed, and a pipe is not replaced by a file, for which its reader would wait.
TEST_F(SpecialFiles, WhatAnOutputIsWrittenToKeepsItsKind) {
  here_.write("small.yaml", small_sweep());
  here_.bench({"run", "small.yaml"});
  fs::create_symlink("real", here_.path() / "link");
  ASSERT_EQ(::mkfifo((here_.path() / "pipe").c_str(), 0666), 0);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"export", "runs", "-f", "junit"}, {"result", "runs"}}) {
    here_.write("real", "");
    const auto output_to = [&](const char* file) {
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.end(), {"--output", file});
      return here_.bench(arguments);
    };
    EXPECT_EQ(output_to("link").status.code, 0);
    EXPECT_TRUE(fs::is_symlink(here_.path() / "link")) << command.front();
    EXPECT_NE(here_.read("real"), "") << command.front();
    EXPECT_THAT(output_to("pipe").standard_error, HasSubstr("pipe is not a regular file"));
    EXPECT_TRUE(fs::is_fifo(here_.path() / "pipe")) << command.front();
  }
}

}  // namespace
}  // namespace bench::end_to_end
