#include "bench_program.hpp"
#include "support/eventually.hpp"
#include "support/patience.hpp"
#include "support/sanitizer.hpp"

#include <array>
#include <csignal>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::end_to_end {
namespace {

using support::eventually;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

struct Pipe {
  UniqueFd read;
  UniqueFd write;

  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      throw std::runtime_error("no pipe can be made");
    read = UniqueFd(ends[0]);
    write = UniqueFd(ends[1]);
  }

  /// What comes until the writer has closed its end.
  std::string rest() {
    write = UniqueFd();
    std::string text;
    std::array<char, 65536> buffer{};
    for (ssize_t count = 0; (count = ::read(read.get(), buffer.data(), buffer.size())) > 0;)
      text.append(buffer.data(), static_cast<std::size_t>(count));
    return text;
  }
};

/// Three workpackages, one after the other, that print more than a pipe takes.
constexpr const char* talkative = R"(name: talkative
outpath: runs
parameterset: {name: sweep, parameter: [{n: [1, 2, 3]}, {name: square, mode: python, _: $n ** 2}]}
step: {name: s, use: sweep, procs: 1, do: 'seq 1 60000; echo "square $square"; echo $n >> ../../../witness'}
patternset: {name: found, pattern: {name: value, type: int, _: square $jube_pat_int}}
analyser: {name: output, use: found, analyse: {step: s, file: stdout}}
result: {use: output, table: {name: t, style: csv, sort: n, column: [n, value]}}
)";

class PipesTest : public testing::Test {
 protected:
  void SetUp() override { here_.write("t.yaml", talkative); }

  std::string status() const { return here_.bench({"status", "runs"}).standard_output; }

  Playground here_;
};

TEST_F(PipesTest, AReaderThatGoesAwayCostsNoWork) {
  Pipe output;
  ProcessSpec spec = here_.spec({"run", "t.yaml", "-vv"});
  spec.stdout_fd = output.write.get();
  Process run(spec);
  output = Pipe();  // as `| head -1` after its line
  EXPECT_EQ(run.wait().code, 0);
  EXPECT_EQ(status(), "finished\n");
}

TEST_F(PipesTest, NobodyIsWatchedForWhoHasGoneAway) {
  here_.write("w.yaml",
              "name: w\noutpath: runs\n"
              "step: {name: s, do: 'touch ../../../started; while test -e ../../../started -a ! -e "
              "../../../go; do sleep "
              "0.05; done'}\n");
  Process run(here_.spec({"run", "w.yaml"}));
  ASSERT_TRUE(eventually([&] { return here_.has("runs/started"); }));
  Pipe output;
  ProcessSpec spec = here_.spec({"status", "runs", "--watch"});
  spec.stdout_fd = output.write.get();
  Process watch(spec);
  output.write = UniqueFd();
  char first = 0;
  ASSERT_EQ(::read(output.read.get(), &first, 1), 1);
  EXPECT_FALSE(watch.poll()) << "the run goes on";
  output = Pipe();
  EXPECT_TRUE(eventually([&] { return watch.poll().has_value(); }));
  EXPECT_EQ(watch.wait().code, 0);
  here_.write("runs/go", "");
  EXPECT_EQ(run.wait().code, 0);
}

TEST_F(PipesTest, AReaderThatStopsReadingHoldsNothingUp) {
  Pipe output;
  ProcessSpec spec = here_.spec({"run", "t.yaml", "-vv"});
  spec.stdout_fd = output.write.get();
  Process run(spec);
  EXPECT_TRUE(eventually(
      [&] { return here_.has("runs/witness") && here_.read("runs/witness") == "1\n2\n3\n"; }));
  EXPECT_FALSE(run.poll()) << "it waits with what is left to say";
  const std::string said = output.rest();
  EXPECT_EQ(run.wait().code, 0);
  EXPECT_THAT(said, StartsWith("####"));
  EXPECT_THAT(said, HasSubstr("\n[0] 1\n[0] 2\n"));
  const std::string work = (here_.path() / "runs/000000/000002_s/work/stdout").string();
  EXPECT_THAT(said, HasSubstr("\n[2] ... and more in " + work + "\n"));
  EXPECT_THAT(said, EndsWith("####\n"));
}

TEST_F(PipesTest, ASlowReaderMissesNothing) {
  Pipe output;
  ProcessSpec spec = here_.spec({"run", "t.yaml", "-vv"});
  spec.stdout_fd = output.write.get();
  Process run(spec);
  const std::string said = output.rest();
  EXPECT_EQ(run.wait().code, 0);
  EXPECT_EQ(said.find("and more in"), std::string::npos);
  EXPECT_THAT(said, HasSubstr("\n[2] 60000\n[2] square 9\n"));
}

TEST_F(PipesTest, AnInterruptedRunEndsThoughNobodyReads) {
  here_.write("w.yaml", "name: w\noutpath: runs\nstep: {name: s, do: 'seq 1 60000; sleep 1000'}\n");
  Pipe output;
  ProcessSpec spec = here_.spec({"run", "w.yaml", "-vv"});
  spec.stdout_fd = output.write.get();
  Process run(spec);
  ASSERT_TRUE(eventually([&] { return here_.has("runs/000000/000000_s/work/stdout"); }));
  run.signal_group(SIGTERM);
  // Then it waits for the reader, which a second signal ends.
  EXPECT_TRUE(eventually([&] {
    run.signal_group(SIGTERM);
    return run.poll().has_value();
  }));
  EXPECT_THAT(here_.bench({"info", "runs", "-s", "s"}).standard_output, HasSubstr("ready"));
}

TEST_F(PipesTest, OutputThatCannotBeWrittenIsAnError) {
  ASSERT_EQ(here_.bench({"run", "t.yaml"}).status.code, 0);
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"result", "runs"}, {"--version"}, {"result", "--help"}}) {
    Pipe errors;
    ProcessSpec spec = here_.spec(command);
    spec.stdout_fd = full.get();
    spec.stderr_fd = errors.write.get();
    Process process(spec);
    EXPECT_EQ(errors.rest(), "error: cannot write standard output: No space left on device\n");
    EXPECT_EQ(process.wait().code, 1);
  }
}

// The next file to be opened would get the number of a closed one, and what is printed with it.
TEST_F(PipesTest, ClosedDescriptorsStayClosedToFiles) {
  const std::string command = shell_quote(BENCH_PROGRAM) + " run t.yaml <&- >&- 2>&-";
  const auto run = run_command({.arguments = {"/bin/sh", "-c", command}, .directory = here_.path()},
                               support::far_too_long_s);
  EXPECT_EQ(run.status.code, 0);
  EXPECT_EQ(status(), "finished\n");
  const std::string lock = here_.read("runs/000000/workspace.lock");
  EXPECT_EQ(lock.find('\n') + 1, lock.size()) << lock;
  EXPECT_EQ(here_.bench({"result", "runs"}).standard_output, "n,value\n1,1\n2,4\n3,9\n\n");
}

/// The largest resident set of any child so far, in MiB.
long largest_child_mib() {
  struct rusage usage {};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return usage.ru_maxrss / 1024;
}

TEST_F(PipesTest, LargeOutputNeedsNoMoreMemoryThanItHasBytes) {
  here_.run("big.yaml", R"(name: big
outpath: runs
step: {name: s, do: 'echo value=1; head -c 64M /dev/zero; echo; echo value=2'}
patternset: {name: found, pattern: {name: value, type: int, _: value=$jube_pat_int}}
analyser: {name: output, use: found, analyse: {step: s, file: stdout}}
result: {use: output, table: {name: t, style: csv, column: [value_cnt, value_sum]}}
)");
  const auto shown = run_command(
      {.arguments = {"/bin/sh", "-c",
                     shell_quote(BENCH_PROGRAM) + " output runs -d -o stdout | tail -c 9"},
       .directory = here_.path()},
      support::far_too_long_s);
  EXPECT_EQ(shown.standard_output, "value=2\n\n");
  if (!support::sanitized) {
    EXPECT_LT(largest_child_mib(), 60) << "what is only shown goes through in pieces";
  }
  EXPECT_EQ(here_.bench({"result", "runs"}).standard_output, "value_cnt,value_sum\n2,3\n\n");
  if (!support::sanitized) {
    EXPECT_LT(largest_child_mib(), 2 * 60) << "what is searched is read whole, and once";
  }
}

}  // namespace
}  // namespace bench::end_to_end
