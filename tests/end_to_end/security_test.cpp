#include "bench_program.hpp"
#include "support/fake_programs.hpp"
#include "terminal.hpp"

#include <array>
#include <filesystem>
#include <stdexcept>
#include <utility>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bench/base/process.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A benchmark with script code wherever there can be some.
const char* scripts() {
  return R"(name: scripts
outpath: runs
parameterset:
  - name: sweep
    parameter:
      - {n: [1, 2]}
      - {name: doubled, type: int, mode: python, _: $n * 2}
      - {name: said, mode: shell, _: echo said $n}
step:
  - {name: compute, use: sweep, active: "$n < 9", do: [echo value=$doubled, "echo $said >&2"]}
patternset:
  - name: found
    pattern:
      - {name: value, type: int, _: value=$jube_pat_int}
      - {name: more, type: int, mode: python, _: $value + 1}
      - {name: told, mode: shell, _: echo told $value}
analyser: {name: output, use: found, analyse: {step: compute, file: stdout}}
result:
  use: output
  table: {name: values, style: csv, filter: "int('$value') > 2", column: [n, value, more, told]}
)";
}

/// Somebody else's: of another owner where the tests run as root, else not writable.
class Foreign {
 public:
  explicit Foreign(fs::path run) : run_(std::move(run)) {
    constexpr uid_t nobody = 65534;
    if (::geteuid() != 0)
      fs::permissions(run_, fs::perms::owner_write, fs::perm_options::remove);
    else if (::chown(run_.c_str(), nobody, nobody) != 0 ||
             ::chown((run_ / "workspace.db").c_str(), nobody, nobody) != 0)
      throw std::runtime_error("chown failed");
  }
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;
  ~Foreign() {
    if (::geteuid() != 0)
      fs::permissions(run_, fs::perms::owner_write, fs::perm_options::add);
    else
      EXPECT_EQ(::chown(run_.c_str(), 0, 0), 0);
  }

 private:
  fs::path run_;
};

/// The only programs that bench finds, which leave a mark and fail.
class Traps {
 public:
  Traps() {
    for (const char* name : names)
      programs_.write(name, "exit 1");
  }
  Environment environment() const {
    return {{"PATH", programs_.path().string()},
            {"JUBE_EXEC_SHELL", (programs_.path() / "sh").string()}};
  }
  std::vector<std::string> sprung() const {
    std::vector<std::string> called;
    for (const char* name : names)
      for (const std::string& call : programs_.calls(name))
        called.push_back(std::string(name) + " " + call);
    return called;
  }

 private:
  static constexpr std::array names{"python3", "python",  "perl",   "sh",    "bash",
                                    "git",     "scancel", "squeue", "sacct", "scontrol"};
  support::FakePrograms programs_;
};

void execute(const fs::path& database, const std::string& statements) {
  SQLite::Database(database.string(), SQLite::OPEN_READWRITE).exec(statements);
}

class SecurityTest : public testing::Test {
 protected:
  void run(const char* input, std::vector<std::string> options = {}) {
    here_.run("in.yaml", input, std::move(options));
  }
  fs::path first() const { return here_.path() / "runs/000000"; }

  Playground here_;
};

// --- nothing is executed

const std::vector<std::vector<std::string>>& reading_commands() {
  static const std::vector<std::vector<std::string>> commands{
      {"result", "runs"},
      {"result", "runs", "-a", "-s", "json"},
      {"result", "runs", "--tidy", "--where", "n = 2"},
      {"info", "runs"},
      {"info", "runs", "-i", "all"},
      {"info", "runs", "-s", "-p"},
      {"info", "runs", "-w"},
      {"status", "runs"},
      {"log", "runs"},
      {"output", "runs", "-d"},
      {"tag", "runs"},
      {"why", "runs", "0"},
      {"why", "runs", "n=2"},
      {"why", "runs", "n=7"},
      {"diff", "runs", "-i", "0", "1"}};
  return commands;
}

/// Whether the run was analysed by its owner.
class ForeignRunTest : public SecurityTest, public testing::WithParamInterface<bool> {};

TEST_P(ForeignRunTest, IsReadWithNothingExecuted) {
  const std::vector<std::string> options(GetParam() ? 1 : 0, "-a");
  run(scripts(), options);
  run(scripts(), options);
  const Foreign one(first());
  const Foreign other(here_.path() / "runs/000001");
  const Traps traps;
  for (const auto& command : reading_commands()) {
    const CommandOutput output = here_.bench(command, traps.environment());
    EXPECT_EQ(output.status.code, 0) << command[0] << output.standard_error;
    EXPECT_THAT(traps.sprung(), IsEmpty()) << command[0];
  }
}

INSTANTIATE_TEST_SUITE_P(Security, ForeignRunTest, testing::Bool(), [](const auto& one) {
  return std::string(one.param ? "Analysed" : "NotAnalysed");
});

TEST_F(SecurityTest, NoReadingCommandExecutesAnythingOfAnOwnRunThatIsAnalysed) {
  run(scripts(), {"-a"});
  run(scripts(), {"-r"});
  const Traps traps;
  for (auto command : reading_commands()) {
    std::erase(command, "-a");
    const CommandOutput output = here_.bench(command, traps.environment());
    EXPECT_EQ(output.status.code, 0) << command[0] << output.standard_error;
    EXPECT_THAT(traps.sprung(), IsEmpty()) << command[0];
  }
}

TEST_F(SecurityTest, TheTrapsSpringWhereScriptCodeIsEvaluated) {
  run(scripts());
  const Traps traps;
  here_.bench({"analyse", "runs"}, traps.environment());
  EXPECT_THAT(traps.sprung(), Not(IsEmpty()));
}

TEST_F(SecurityTest, AForeignRunIsShownWithTheFilterThatItsOwnerHasEvaluated) {
  run(scripts(), {"-a"});
  const Foreign foreign(first());
  const CommandOutput shown = here_.bench({"result", "runs"});
  EXPECT_THAT(shown.standard_output, AllOf(HasSubstr("2,4,5,told 4"), Not(HasSubstr("1,2,3"))));
}

TEST_F(SecurityTest, AForeignFilterWithoutAnOutcomeIsLeftOutAndThatIsSaid) {
  run(scripts(), {"-a"});
  execute(first() / "workspace.db", "UPDATE fact SET value = '' WHERE name = 'filters'");
  const Foreign foreign(first());
  const CommandOutput shown = here_.bench({"result", "runs"});
  EXPECT_THAT(shown.standard_output, AllOf(HasSubstr("2,4,5,told 4"), HasSubstr("1,2,3,told 2")));
  EXPECT_THAT(shown.standard_error,
              HasSubstr("warning: the filter of table 'values' is not applied: it is Python code, "
                        "and the run belongs to another user\n"
                        "hint: `bench analyse` by the owner saves its outcome"));
}

TEST_F(SecurityTest, AForeignRunIsNotWrittenTo) {
  run(scripts(), {"-a"});
  const std::string before = here_.read("runs/000000/workspace.db");
  const Foreign foreign(first());
  for (const auto& command : reading_commands())
    if (command[0] != "diff")
      here_.bench(command);
  EXPECT_FALSE(here_.has("runs/000000/result.log"));
  EXPECT_FALSE(here_.has("runs/000000/result"));
  EXPECT_EQ(here_.read("runs/000000/workspace.db"), before);
}

TEST_F(SecurityTest, ABatchSystemIsNotAskedWithTheWordsOfAForeignRun) {
  run(scripts());
  execute(first() / "workspace.db",
          "UPDATE workpackage SET state = 'submitted' WHERE id = 0;"
          "UPDATE attempt SET job_id = '17', outcome = '' WHERE workpackage = 0;"
          "UPDATE fact SET value = 'slurm' WHERE name = 'platform'");
  fs::remove(first() / "000000_compute/sentinel");
  const Foreign foreign(first());
  const Traps traps;
  const CommandOutput shown = here_.bench({"why", "runs", "0"}, traps.environment());
  EXPECT_THAT(shown.standard_output,
              HasSubstr("the batch system was not asked: the run belongs to another user"));
  EXPECT_THAT(traps.sprung(), IsEmpty());
}

// --- hostile directories

TEST_F(SecurityTest, LogsAndOutputsBehindLinksAndInPipesAreNotShown) {
  run(small_sweep(), {"-a"});
  here_.write("outside/stdout", "secret of the reader\n");
  const fs::path work = first() / "000000_compute/work";
  for (const bool pipe : {false, true}) {
    for (const fs::path& file : {work / "stdout", work / "stderr", first() / "run.log",
                                 first() / "result.log", first() / "workspace.lock"}) {
      fs::remove(file);
      if (pipe)
        ASSERT_EQ(::mkfifo(file.c_str(), 0666), 0);
      else
        fs::create_symlink(here_.path() / "outside/stdout", file);
    }
    for (const std::vector<std::string>& command : {std::vector<std::string>{"log", "runs"},
                                                    {"why", "runs", "0"},
                                                    {"output", "runs", "-d"},
                                                    {"result", "runs"},
                                                    {"info", "runs", "-w"}}) {
      const CommandOutput shown = here_.bench(command);
      EXPECT_EQ(shown.status.code, 0) << command[0] << shown.standard_error;
      EXPECT_THAT(shown.standard_output + shown.standard_error, Not(HasSubstr("secret")));
    }
  }
  EXPECT_EQ(here_.read("outside/stdout"), "secret of the reader\n");
}

TEST_F(SecurityTest, AWorkpackageDirectoryThatIsALinkOutShowsNothing) {
  run(small_sweep());
  here_.write("outside/work/stdout", "secret of the reader\n");
  fs::remove_all(first() / "000000_compute");
  fs::create_directory_symlink(here_.path() / "outside", first() / "000000_compute");
  EXPECT_THAT(here_.bench({"output", "runs", "-d"}).standard_output, Not(HasSubstr("secret")));
  EXPECT_THAT(here_.bench({"why", "runs", "0"}).standard_output, Not(HasSubstr("secret")));
}

TEST_F(SecurityTest, ATerminalShowsControlCharactersAndAPipeGetsThem) {
  const std::string evil = "\x1b]0;title\x07\x1b[2Jgone\r";
  run(small_sweep());
  here_.write("runs/000000/000000_compute/work/stdout", evil + "\n");
  here_.write("runs/000000/run.log", evil + "\n");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"log", "runs"}, {"why", "runs", "0"}, {"output", "runs", "-d"}}) {
    const std::string shown = shown_at_terminal(here_, command, 80, 24, Screen::both);
    EXPECT_THAT(shown, Not(HasSubstr("\x1b"))) << command[0];
    if (command[0] != "why") {  // which shows no output of what is done
      EXPECT_THAT(shown, HasSubstr("^[]0;title^G^[[2Jgone^M")) << command[0];
      EXPECT_THAT(here_.bench(command).standard_output, HasSubstr(evil)) << command[0];
    }
  }
}

TEST_F(SecurityTest, ATerminalShowsWhatTurnsTheOrderOfLetters) {
  run(small_sweep());
  here_.write("runs/000000/000000_compute/work/stdout", "a\u202eb\n");
  const std::string shown =
      shown_at_terminal(here_, {"output", "runs", "-d"}, 80, 24, Screen::both);
  EXPECT_THAT(shown, AllOf(HasSubstr("a<U+202E>b"), Not(HasSubstr("\u202e"))));
}

TEST_F(SecurityTest, ALinkUnderTheNameOfTheLockKeepsItsTarget) {
  run(small_sweep());
  here_.write("precious", "keep me");
  fs::remove(first() / "workspace.lock");
  fs::create_symlink(here_.path() / "precious", first() / "workspace.lock");
  EXPECT_EQ(here_.bench({"comment", "text", "runs"}).status.code, 1);
  EXPECT_EQ(here_.bench({"remove", "runs", "-f"}).status.code, 1);
  EXPECT_EQ(here_.read("precious"), "keep me");
}

TEST_F(SecurityTest, ResultsAreNotWrittenThroughALinkOut) {
  run(small_sweep());
  fs::create_directory(here_.path() / "outside");
  fs::create_directory_symlink(here_.path() / "outside", first() / "result");
  const CommandOutput refused = here_.bench({"result", "runs"});
  EXPECT_EQ(refused.status.code, 1);
  EXPECT_THAT(refused.standard_error, HasSubstr("runs/000000 through a link"));
  EXPECT_TRUE(fs::is_empty(here_.path() / "outside"));
}

TEST_F(SecurityTest, RemovingAWorkpackageFollowsNoLinkToItsFailedAttempts) {
  run(small_sweep());
  execute(first() / "workspace.db", "UPDATE workpackage SET retries = 1 WHERE id = 0");
  here_.write("outside/000000_compute.1/precious", "keep me");
  fs::create_directory_symlink(here_.path() / "outside", first() / "retried");
  EXPECT_EQ(here_.bench({"remove", "runs", "-f", "-w", "0"}).status.code, 1);
  EXPECT_EQ(here_.read("outside/000000_compute.1/precious"), "keep me");
}

/// How somebody has changed the database, and what is said of that.
struct Hostile {
  const char* statements;
  const char* message;
};
constexpr const char* misfit = "does not fit the benchmark of its run";
constexpr Hostile hostile_databases[] = {
    {"ALTER TABLE fact RENAME TO old; CREATE VIEW fact AS SELECT * FROM old",
     "are not those that bench makes: its table 'old' is not"},
    {"ALTER TABLE workpackage ADD COLUMN bomb BLOB GENERATED ALWAYS AS "
     "(zeroblob(1000000000))",
     "are not those that bench makes: its table 'workpackage' is not"},
    {"UPDATE workpackage SET directory = '../../outside'",
     "'../../outside', is not in the run directory"},
    {"UPDATE workpackage SET directory = '/etc'", "'/etc', is not in the run directory"},
    {"UPDATE workpackage SET step = 'other' WHERE id = 2", misfit},
    {"DELETE FROM attempt", misfit},
    {"UPDATE workpackage SET command = -7", misfit},
    {"UPDATE parent SET parent = workpackage", misfit},
    {"UPDATE workpackage SET state = 'failed', attempts = 0 WHERE id = 0", misfit},
    {"UPDATE fact SET value = '{' WHERE name = 'document'",
     "the workspace holds an input that cannot be read"},
    {"UPDATE fact SET value = '{\"files\":[\"\"],\"root\":' || "
     "replace(hex(zeroblob(20000)), "
     "'00', '{\"name\":\"\",\"text\":\"\",\"place\":[0,1,1],\"text_place\":[0,1,1],"
     "\"attributes\":[],\"children\":[') || replace(hex(zeroblob(20000)), '00', ']}') "
     "|| '}' "
     "WHERE name = 'document'",
     "the workspace holds an input that cannot be read"},
    {"UPDATE workpackage SET parameters = '{\"n\": [1]}'", "is damaged"}};

TEST_F(SecurityTest, AHostileDatabaseIsRefusedByEveryCommandThatWouldUseItsRows) {
  run(small_sweep(), {"-a"});
  const std::string sound = here_.read("runs/000000/workspace.db");
  for (const Hostile& hostile : hostile_databases) {
    const auto expect_refusal = [&](const std::vector<std::string>& command) {
      const CommandOutput refused = here_.bench(command);
      EXPECT_EQ(refused.status.signal, 0) << command[0] << hostile.statements;
      EXPECT_EQ(refused.status.code, 1) << command[0] << hostile.statements;
      EXPECT_THAT(refused.standard_error,
                  AllOf(HasSubstr(hostile.message), Not(HasSubstr("defect")),
                        Not(HasSubstr("json.exception"))));
    };
    here_.write("runs/000000/workspace.db", sound);
    execute(first() / "workspace.db", hostile.statements);
    const std::vector<std::vector<std::string>> commands{
        {"result", "runs"}, {"why", "runs", "0"}, {"output", "runs"}};
    for (const auto& command : commands)
      expect_refusal(command);
    const Foreign foreign(first());
    for (const auto& command : commands)
      expect_refusal(command);
  }
}

}  // namespace
}  // namespace bench::end_to_end
