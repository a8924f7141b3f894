#include "bench_program.hpp"
#include "support/environment_variable.hpp"
#include "support/patience.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/process.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// One benchmark of one file, run in a directory of its own.
class StepsTest : public testing::Test {
 protected:
  CommandOutput run(const std::string& yaml, std::vector<std::string> options = {}) {
    here_.write("in.yaml", "name: steps\noutpath: runs\n" + yaml);
    options.insert(options.begin(), {"run", "in.yaml", "--hide-animation"});
    return here_.bench(std::move(options));
  }
  CommandOutput go_on() { return here_.bench({"continue", "runs", "--hide-animation"}); }
  std::string status() { return here_.bench({"status", "runs"}).standard_output; }
  /// A file in the run directory.
  std::string in_run(const std::string& name) { return here_.read("runs/000000/" + name); }
  bool has(const std::string& name) { return here_.has("runs/000000/" + name); }
  void touch(const std::string& name) { here_.write("runs/000000/" + name, ""); }

  Playground here_;
};

TEST_F(StepsTest, ACommandIsFinishedOnceItsFileExists) {
  const auto first =
      run("step:\n"
          "  - {name: submit, do: [echo one, {done_file: ready, _: echo two}, echo three]}\n"
          "  - {name: after, depend: submit, do: cat submit/stdout}\n"
          "  - {name: empty, do: [echo sent, {done_file: ready}]}\n");
  EXPECT_EQ(first.status.code, 0) << first.standard_error;
  EXPECT_EQ(in_run("000000_submit/work/stdout"), "one\ntwo\n");
  EXPECT_EQ(status(), "running\n");
  EXPECT_EQ(go_on().status.code, 0);
  EXPECT_EQ(in_run("000000_submit/work/stdout"), "one\ntwo\n") << "nothing is repeated";
  touch("000000_submit/work/ready");
  EXPECT_EQ(go_on().status.code, 0);
  EXPECT_EQ(in_run("000002_after/work/stdout"), "one\ntwo\nthree\n");
  EXPECT_EQ(status(), "running\n") << "a command without text waits for its file, too";
  touch("000001_empty/work/ready");
  EXPECT_EQ(go_on().status.code, 0);
  EXPECT_EQ(status(), "finished\n");
}

TEST_F(StepsTest, AnErrorFileFailsTheWorkpackageAtOnceOrLater) {
  const auto output = run(
      "step:\n"
      "  - {name: now, do: [{done_file: ready, error_file: bad, _: touch ready bad}, echo no]}\n"
      "  - {name: later, do: {done_file: ready, error_file: bad, _: 'true'}}\n");
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(output.standard_error, HasSubstr("000000_now/work/bad exists"));
  EXPECT_EQ(status(), "running\n");
  touch("000001_later/work/bad");
  EXPECT_THAT(go_on().standard_error, HasSubstr("000001_later/work/bad exists"));
  EXPECT_EQ(status(), "failed\n");
}

TEST_F(StepsTest, ABreakFileEndsCommandsAndCycles) {
  run("step: {name: go, cycles: 9, do: ['echo $jube_wp_cycle',\n"
      "       {break_file: enough, _: 'test $jube_wp_cycle != 2 || touch enough'}, echo more]}\n");
  EXPECT_EQ(status(), "finished\n");
  EXPECT_EQ(in_run("000000_go/work/stdout"), "0\nmore\n1\nmore\n2\n");
}

TEST_F(StepsTest, CyclesWaitForOneFileEach) {
  run("step: {name: go, cycles: 2, do: {done_file: r$jube_wp_cycle, _: 'echo $jube_wp_cycle'}}\n");
  touch("000000_go/work/r0");
  go_on();
  EXPECT_EQ(in_run("000000_go/work/stdout"), "0\n1\n");
  EXPECT_EQ(status(), "running\n");
  touch("000000_go/work/r1");
  go_on();
  EXPECT_EQ(status(), "finished\n");
}

TEST_F(StepsTest, TheEnvironmentOfACommandOutlivesAnInterval) {
  run("step: {name: go, do: [{done_file: ready, _: 'export WORD=kept; cd /'}, 'echo $$WORD; "
      "pwd']}\n");
  touch("000000_go/work/ready");
  go_on();
  EXPECT_EQ(in_run("000000_go/work/stdout"),
            "kept\n" + (here_.path() / "runs/000000/000000_go/work").string() + "\n");
}

TEST_F(StepsTest, MaxAsyncCountsWhatWaits) {
  run("parameterset: {name: p, parameter: {n: [1, 2, 3]}}\n"
      "step: {name: go, use: p, max_async: 2, do: {done_file: ready, _: 'true'}}\n");
  EXPECT_TRUE(has("000001_go"));
  EXPECT_FALSE(has("000002_go"));
  touch("000000_go/work/ready");
  go_on();
  EXPECT_TRUE(has("000002_go"));
}

TEST_F(StepsTest, ASharedCommandRunsOnceWhenAllHaveArrived) {
  run("parameterset: {name: p, parameter: {n: [1, 2, 3]}}\n"
      "step:\n"
      "  name: go\n"
      "  use: p\n"
      "  shared: common\n"
      "  do: ['echo $n > common/$n', {shared: 'true', _: 'cat ? > all; echo $jube_wp_id'},\n"
      "       cat common/all]\n");
  EXPECT_EQ(status(), "finished\n");
  EXPECT_EQ(in_run("go_common/all"), "1\n2\n3\n");
  EXPECT_EQ(in_run("go_common/stdout"), "\n") << "it belongs to no workpackage";
  for (const std::string wp : {"000000_go", "000001_go", "000002_go"})
    EXPECT_EQ(in_run(wp + "/work/stdout"), "1\n2\n3\n");
  EXPECT_EQ(fs::read_symlink(here_.path() / "runs/000000/000000_go/work/common"),
            "../../go_common");
}

TEST_F(StepsTest, WhatWasExportedBeforeASharedCommandIsThereInItAndAfterIt) {
  run("parameterset: {name: p, parameter: {i: [1, 2, 3]}}\n"
      "step: {name: go, use: p, shared: common, do: [export X=$i, {shared: true, _: 'echo shared "
      "X=$$X'}, echo after X=$$X]}\n");
  EXPECT_EQ(in_run("go_common/stdout"), "shared X=3\n") << "the last one executes it";
  for (const std::string i : {"1", "2", "3"})
    EXPECT_EQ(in_run("00000" + std::to_string(std::stoi(i) - 1) + "_go/work/stdout"),
              "after X=" + i + "\n");
}

TEST_F(StepsTest, AFailureBeforeASharedCommandFailsThoseThatWait) {
  const auto output =
      run("parameterset: {name: p, parameter: {n: [1, 2]}}\n"
          "step: {name: go, use: p, shared: common, do: ['test $n != 1', {shared: 'true', _: "
          "'true'}]}\n");
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(output.standard_error,
              HasSubstr("its shared command cannot run: a workpackage of step go has failed"));
  EXPECT_EQ(status(), "failed\n") << "JUBE would wait for ever";
}

TEST_F(StepsTest, FilesAreCopiedAndLinked) {
  here_.write("src/a.txt", "a");
  here_.write("src/b.txt", "b");
  here_.write("src/sub/c.txt", "c");
  run("parameterset: {name: p, parameter: {which: a}}\n"
      "fileset:\n"
      "  name: files\n"
      "  copy: [{source_dir: src, _: '$which.txt, sub'}, {_: src/b.txt, name: renamed, target_dir: "
      "t}]\n"
      "  link: [{_: src/*.txt, target_dir: links}]\n"
      "  prepare: 'cat links/?.txt > prepared; export MADE=yes'\n"
      "step: {name: go, use: [p, files], do: 'cat a.txt sub/c.txt t/renamed prepared; echo "
      "$$MADE'}\n");
  EXPECT_EQ(in_run("000000_go/work/stdout"), "acbabyes\n");
  EXPECT_EQ(fs::read_symlink(here_.path() / "runs/000000/000000_go/work/links/a.txt"),
            "../../../../../src/a.txt");
}

TEST_F(StepsTest, AMissingFileFailsItsWorkpackageOnly) {
  here_.write("1.txt", "one");
  const auto output =
      run("parameterset: {name: p, parameter: {n: [1, 2]}}\n"
          "fileset: {name: files, copy: $n.txt}\n"
          "step: {name: go, use: [p, files], do: cat $n.txt}\n");
  EXPECT_EQ(output.status.code, 1);
  EXPECT_THAT(output.standard_error, HasSubstr("in.yaml:4:30: error: no file matches '2.txt'"));
  EXPECT_EQ(in_run("000000_go/work/stdout"), "one");
}

// White space around them is not theirs, as in JUBE.
TEST_F(StepsTest, SubstitutionsSeeWhatEarlierOnesMade) {
  here_.write("job.in", "nodes=#N#\nx12 y34\n");
  run("parameterset: {name: p, parameter: {n: 4}}\n"
      "fileset: {name: files, copy: job.in}\n"
      "substituteset:\n"
      "  name: subs\n"
      "  iofile: {in: job.in, out: job.sh}\n"
      "  sub: [{source: '#N#', dest: '$n#M#'}, {source: '#M#', dest: ' of '},\n"
      "        {source: '([xy])(\\d)', mode: regex, dest: '\\2\\1'}]\n"
      "step: {name: go, use: [p, files, subs], do: cat job.sh}\n");
  EXPECT_EQ(in_run("000000_go/work/stdout"), "nodes=4of\n1x2 3y4\n");
}

TEST_F(StepsTest, AnExportingStepHandsItsEnvironmentOn) {
  run("step:\n"
      "  - {name: load, export: true, do: export MODULE=gcc/12}\n"
      "  - {name: use, depend: load, do: echo $$MODULE}\n"
      "  - {name: later, depend: use, do: 'echo [$$MODULE]'}\n");
  EXPECT_EQ(in_run("000001_use/work/stdout"), "gcc/12\n");
  EXPECT_EQ(in_run("000002_later/work/stdout"), "[]\n") << "the step between does not export";
}

TEST_F(StepsTest, CommandsRunInTheStepsOwnDirectory) {
  run("parameterset: {name: p, parameter: {n: 7}}\n"
      "step: {name: go, use: p, work_dir: build_$n, do: ['pwd', {work_dir: sub, _: pwd}]}\n");
  const std::string build = (here_.path() / "build_7").string();
  EXPECT_EQ(here_.read("build_7/stdout"), build + "\n" + build + "/sub\n");
  EXPECT_TRUE(has("000000_go/work"));
}

/// Also where bash has handed on a function, which other shells cannot name.
TEST_F(StepsTest, TheLogOfCommandsCanBeExecuted) {
  const support::EnvironmentVariable function("BASH_FUNC_module%%", "() { :; }");
  run("parameterset: {name: p, parameter: {W: {export: true, _: two words}}}\n"
      "step: {name: go, use: p, do_log_file: 'true', do: [echo one, 'echo \"$$W\"']}\n");
  EXPECT_EQ(in_run("000000_go/work/stdout"), "one\ntwo words\n");
  const std::string log = in_run("000000_go/do_log");
  EXPECT_TRUE(log.starts_with("#!/bin/sh\n"));
  EXPECT_EQ(log.find("#!", 1), std::string::npos) << "once";
  const auto repeated = run_command(
      {.arguments = {"/bin/sh", (here_.path() / "runs/000000/000000_go/do_log").string()}},
      support::far_too_long_s);
  EXPECT_EQ(repeated.standard_output, "one\ntwo words\n");
  EXPECT_EQ(repeated.standard_error, "");
}

}  // namespace
}  // namespace bench::end_to_end
