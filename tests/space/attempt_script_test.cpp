#include "space/run_fixture.hpp"
#include "support/environment_variable.hpp"
#include "support/patience.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/sentinel.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/job_script.hpp>
#include <bench/space/render.hpp>
#include <bench/space/render_context.hpp>

namespace bench::space {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Job scripts as bash runs them.
class AttemptScriptTest : public RunFixture {
 protected:
  /// Writes the script of an attempt of one workpackage, whose directory is there.
  void write_script(const std::string& command, const std::string& uuid = "first") {
    write_script_of("step: {name: go, batch: true, do: \"" + command + "\"}\n", uuid);
  }
  void write_script_of(const std::string& yaml, const std::string& uuid = "first") {
    plan(yaml);
    run_.platform.prologue = prologue_;
    const Graph graph = grown();
    fs::create_directories(directory() / "work");
    write_file_atomically(
        directory() / "job.sh",
        render(run_, graph.at(0), graph.variables_of(graph.at(0)), uuid, evaluator_).script);
  }

  static CommandOutput bash(std::vector<std::string> arguments, const Environment& extra = {}) {
    arguments.insert(arguments.begin(), "bash");
    return run_command({.arguments = std::move(arguments),
                        .directory = {},
                        .environment = support::environment_with(extra)},
                       support::far_too_long_s);
  }

  fs::path directory() const { return run_.directory.path / "000000_go"; }
  std::string script() const { return (directory() / "job.sh").string(); }
  std::string left(const std::string& name) const { return read_file(directory() / "work" / name); }
  auto sentinel() const { return machine::read_sentinel(directory() / "sentinel"); }

  std::string prologue_;
};

TEST_F(AttemptScriptTest, LeavesItsOutputAndHowItEnded) {
  for (const int code : {0, 3}) {
    fs::remove_all(directory());
    write_script("echo out; echo bad >&2; exit " + std::to_string(code));
    EXPECT_EQ(bash({script()}).status.code, code);
    EXPECT_EQ(left("stdout"), "out\n");
    EXPECT_EQ(left("stderr"), "bad\n");
    ASSERT_TRUE(sentinel());
    EXPECT_EQ(sentinel()->attempt, "first");
    EXPECT_EQ(sentinel()->exit_code, code);
    EXPECT_LE(sentinel()->started_unix_s, sentinel()->ended_unix_s);
  }
}

TEST_F(AttemptScriptTest, TellsThatItHasBegun) {
  write_script("cat ../sentinel");
  bash({script()});
  EXPECT_THAT(left("stdout"), testing::StartsWith("attempt=first\nhost="));
  EXPECT_THAT(left("stdout"), testing::Not(HasSubstr("exit_code")));
}

TEST_F(AttemptScriptTest, ExecutesNothingASecondTime) {
  write_script("echo out");
  bash({script()});
  EXPECT_EQ(bash({script()}).status.code, 0);
  EXPECT_EQ(left("stdout"), "out\n");
  EXPECT_EQ(left("stderr"), "") << "the attempt that began may still write there";
  EXPECT_EQ(read_file(directory() / "messages"),
            "bench: attempt first has begun before; nothing is executed\n");
  EXPECT_TRUE(fs::exists(directory() / "restarted.first"));
  EXPECT_EQ(sentinel()->exit_code, 0);
}

TEST_F(AttemptScriptTest, ExecutesNothingOnceItWasGivenUp) {
  const auto told = [](const std::string& attempt) {
    return "bench: attempt " + attempt + " was replaced by a later one; nothing is executed\n";
  };
  write_script("echo out");
  const std::string copy = directory_.write("spooled", read_file(script())).string();
  EXPECT_EQ(bash({script(), "second"}).status.code, 0) << "an array names the attempt";
  EXPECT_EQ(read_file(directory() / "messages"), told("second"));
  write_script("echo out", "second");
  EXPECT_EQ(bash({copy}).status.code, 0) << "Slurm runs a copy of the script";
  EXPECT_EQ(read_file(directory() / "messages"), told("second") + told("first"));
  EXPECT_FALSE(sentinel());
  EXPECT_FALSE(fs::exists(directory() / "work/stderr")) << "it is the live attempt's";
  bash({script(), "second"});
  EXPECT_EQ(left("stdout"), "out\n");
}

/// As on a full disk: it has not begun before, and its end must not look like a success.
TEST_F(AttemptScriptTest, FailsWhereItsSentinelCannotBeWritten) {
  write_script("echo out");
  fs::create_symlink("/dev/full", directory() / "sentinel");
  EXPECT_EQ(bash({script()}).status.code, 1);
  EXPECT_EQ(left("stdout"), "");
  EXPECT_THAT(left("stderr"),
              HasSubstr("bench: the sentinel cannot be written; nothing is executed\n"));
  EXPECT_FALSE(fs::exists(directory() / "restarted.first"));
  EXPECT_FALSE(fs::is_symlink(directory() / "sentinel")) << "the next job may begin";
}

TEST_F(AttemptScriptTest, LeavesItsSentinelInARunThatIsRenamedMeanwhile) {
  write_script("mv ../../000000_go ../../renamed; exit 3");
  EXPECT_EQ(bash({script()}).status.code, 3);
  const auto left_there =
      machine::read_sentinel(directory().parent_path() / "renamed" / "sentinel");
  ASSERT_TRUE(left_there);
  EXPECT_EQ(left_there->exit_code, 3);
}

/// Bash would quote the whole command, and its last line would be the reason.
TEST_F(AttemptScriptTest, SaysNothingOfItsOwnWhereASignalEndsTheCommands) {
  const fs::path pause = directory_.path() / "pause";
  write_file_atomically(pause,
                        R"(trap '[ "$BASH_COMMAND" != "bench_commands=\$!" ] || sleep 0.3' DEBUG)");
  for (const std::string& before_it_waits : {std::string(), pause.string()}) {
    fs::remove_all(directory());
    write_script("case a in\\n a) echo said >&2; kill -KILL $$$$ ;;\\nesac");
    EXPECT_EQ(bash({script()}, {{"BASH_ENV", before_it_waits}}).status.code, 137);
    EXPECT_EQ(left("stderr"), "said\n");
    EXPECT_EQ(sentinel()->exit_code, 137);
  }
}

TEST_F(AttemptScriptTest, HandsOnTheSignalsThatUsersAskFor) {
  for (const std::string signal : {"USR1", "USR2"}) {
    fs::remove(directory() / "sentinel");
    write_script("trap 'echo caught " + signal + "; exit 0' " + signal + "; kill -" + signal +
                 " $PPID; while true; do sleep 0.1; done");
    EXPECT_EQ(bash({script()}).status.code, 0);
    EXPECT_THAT(left("stdout"), HasSubstr("caught " + signal + "\n"));
  }
}

/// The shell between them has no handler, and would leave the program behind.
TEST_F(AttemptScriptTest, HandsOnTheSignalsToTheProgramThatAShellWaitsFor) {
  for (const std::string signal : {"USR1", "USR2"}) {
    fs::remove(directory() / "sentinel");
    const auto program = directory_.write(
        "program.sh", "trap 'echo caught " + signal + "; exit 0' " + signal + "; kill -" + signal +
                          " $(cut -d' ' -f4 /proc/$PPID/stat); while true; do sleep 0.1; done");
    write_script("sh " + program.string() + "\\necho second");
    EXPECT_EQ(bash({script()}).status.code, 0);
    EXPECT_THAT(left("stdout"), testing::EndsWith("caught " + signal + "\nsecond\n"));
  }
}

TEST_F(AttemptScriptTest, ASignalThatNothingCatchesEndsTheCommands) {
  write_script("kill -USR1 $PPID; while :; do sleep 0.1; done");
  EXPECT_EQ(bash({script()}).status.code, 138);
  EXPECT_EQ(left("stdout"), "");
}

TEST_F(AttemptScriptTest, IsNoSuccessWhereASignalEndsItBeforeTheCommands) {
  prologue_ = "kill -TERM $$";
  write_script("echo out");
  EXPECT_EQ(bash({script()}).status.code, 143);
  EXPECT_EQ(left("stdout"), "");
  ASSERT_TRUE(sentinel());
  EXPECT_EQ(sentinel()->exit_code, 143);
}

/// Steps and parameters export variables of any name, which must not hide the script's own.
TEST_F(AttemptScriptTest, HasNoVariablesThatOthersCouldHave) {
  prologue_ = "export attempt=a script=b sentinel=c job_nodes=d started=e code=f commands=g";
  write_script("exit 3");
  EXPECT_EQ(bash({script()}).status.code, 3);
  ASSERT_TRUE(sentinel());
  EXPECT_EQ(sentinel()->attempt, "first");
  EXPECT_EQ(sentinel()->exit_code, 3);
}

/// An attempt that was given up while it ran on: its node had lost touch, say.
TEST_F(AttemptScriptTest, LeavesTheSentinelOfItsSuccessorAlone) {
  write_script("printf 'attempt=second\\n' > ../sentinel; exit 3");
  EXPECT_EQ(bash({script()}).status.code, 3);
  ASSERT_TRUE(sentinel());
  EXPECT_EQ(sentinel()->attempt, "second");
  EXPECT_EQ(sentinel()->exit_code, std::nullopt);
}

TEST_F(AttemptScriptTest, LeavesNoSentinelWhereItsSuccessorHasNotBegun) {
  write_script("rm ../sentinel");
  bash({script()});
  EXPECT_FALSE(fs::exists(directory() / "sentinel"));
}

/// A step with several commands.
struct Commands {
  std::string name;
  std::string commands;
  int code = 0;
  std::string output;
  std::string errors;
};

class ScriptOfSeveralTest : public AttemptScriptTest,
                            public testing::WithParamInterface<Commands> {};

/// A step without `batch` gives the same (machine/local_test.cpp).
TEST_P(ScriptOfSeveralTest, ExecutesEachInAShellOfItsOwn) {
  write_script_of("step: {name: go, batch: true, do: " + GetParam().commands + "}\n");
  EXPECT_EQ(bash({script()}).status.code, GetParam().code);
  EXPECT_EQ(left("stdout"), GetParam().output);
  EXPECT_EQ(left("stderr"), GetParam().errors);
  EXPECT_FALSE(fs::exists(directory() / "environment")) << "it may hold secrets";
}

INSTANTIATE_TEST_SUITE_P(
    Commands, ScriptOfSeveralTest,
    testing::Values(
        Commands{"Exit", "[echo a; exit 0, echo b]", 0, "a\nb\n", ""},
        Commands{"Exec", "[exec echo a, echo b]", 0, "a\nb\n", ""},
        Commands{"Comment", "['echo a # c', echo b]", 0, "a\nb\n", ""},
        Commands{"Background", "['true &', echo b]", 0, "b\n", ""},
        Commands{"Failure", "[echo a; exit 3, echo b]", 3, "a\n", ""},
        Commands{"FailedBefore", "['false; true', echo b]", 0, "b\n", ""},
        Commands{"Pipe", "['yes 2> /dev/null | head -1', echo b]", 0, "y\nb\n", ""},
        Commands{"SinglePipe", "'yes 2> /dev/null | head -1'", 0, "y\n", ""},
        Commands{"SingleFailedBefore", "'false; true'", 0, "", ""},
        Commands{"Directory", "['cd /; pwd', 'basename $(pwd)']", 0, "/\nwork\n", ""},
        Commands{"Signal", "['kill -KILL $$$$', echo b]", 137, "", ""},
        Commands{"Option", "['set -e; X=1', 'false; echo \"[$X]\"']", 0, "[]\n", ""},
        Commands{"Exported", R"(["export A='1 2'; export B=x", "echo \"$A $B\"; unset B; A='a\nb'",
                                  "echo \"$A ${B-none}\""])",
                 0, "1 2 x\na\nb none\n", ""},
        Commands{"ExportedBeforeExit", "['export A=1; exit 0', 'echo \"[$A]\"']", 0, "[]\n", ""},
        Commands{"Files", "[{stdout: o, _: echo a}, {stderr: e, _: echo b >&2}, cat o e]", 0,
                 "a\nb\n", ""},
        Commands{"WorkDirectory", "[{work_dir: sub/deep, _: echo a > f}, cat sub/deep/f]", 0, "a\n",
                 ""}),
    [](const auto& one) { return one.param.name; });

/// Its end swallows nothing that follows it.
TEST_F(AttemptScriptTest, AnOpenHereDocumentEndsWithItsCommand) {
  write_script_of("step: {name: go, batch: true, do: [\"cat << END\\na\", echo b]}\n");
  EXPECT_EQ(bash({script()}).status.code, 0);
  EXPECT_THAT(left("stdout"), testing::MatchesRegex("a\n?b\n"));
}

/// The script that runs those of others, by its list.
class DispatcherScriptTest : public AttemptScriptTest {
 protected:
  /// Runs one task of a list of two, with `pack` workpackages each: a0, a1, ... and b0, b1, ...
  /// Returns what they print.
  std::string output_of_task(int pack, const std::string& task,
                             const std::string& commands = "echo $1") {
    plan("step: {name: go, batch: true, do: a}\n", "pbs");
    const RenderContext of = context();
    const std::string say = directory_.write("my say.sh", commands).string();
    std::string list;
    for (const std::string line : {"a", "b"}) {
      for (int k = 0; k < pack; ++k)
        list += "'" + say + "' " + line + std::to_string(k) + " ";
      list.back() = '\n';
    }
    const auto body =
        render_dispatcher(of, job_request_of(of), pack, directory_.write("list", list)).at("body");
    Environment extra;
    if (!task.empty())
      extra.emplace_back("PBS_ARRAY_INDEX", task);
    return bash({"-c", body}, extra).standard_output;
  }

  support::EnvironmentVariable task_{"PBS_ARRAY_INDEX", std::nullopt};
};

TEST_F(DispatcherScriptTest, RunsTheScriptOfItsTask) {
  EXPECT_EQ(output_of_task(1, "1"), "a0\n");
  EXPECT_EQ(output_of_task(1, "2"), "b0\n");
}

TEST_F(DispatcherScriptTest, RunsThePackOfItsTaskSideBySide) {
  EXPECT_THAT(output_of_task(2, "2"), testing::AnyOf("b0\nb1\n", "b1\nb0\n"));
}

TEST_F(DispatcherScriptTest, HandsOnTheSignalsThatUsersAskForToAllOfAPack) {
  for (const std::string signal : {"USR1", "USR2"}) {
    const std::string commands = replace_all(
        "trap 'echo $1; exit' SIGNAL; cd \"$(dirname \"$0\")\"; touch SIGNAL.$1; until test -e "
        "SIGNAL.b0 -a -e SIGNAL.b1; do sleep 0.1; done; test $1 = b1 || kill -SIGNAL $PPID; while "
        "true; do sleep 0.1; done",
        "SIGNAL", signal);
    EXPECT_THAT(output_of_task(2, "2", commands), testing::AnyOf("b0\nb1\n", "b1\nb0\n")) << signal;
  }
}

TEST_F(DispatcherScriptTest, RunsTheFirstLineWithoutAnArray) {
  EXPECT_THAT(output_of_task(2, ""), testing::AnyOf("a0\na1\n", "a1\na0\n"));
}

}  // namespace
}  // namespace bench::space
