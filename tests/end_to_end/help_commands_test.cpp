#include "bench_program.hpp"
#include "support/patience.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
namespace fs = std::filesystem;

const std::vector<std::string> commands{
    "run",        "continue", "cancel",   "check",  "analyse",  "result", "info",   "diff",
    "why",        "status",   "log",      "output", "comment",  "tag",    "remove", "platforms",
    "references", "mlperf",   "baseline", "schema", "complete", "help"};

/// That of every command works: see DocumentsTest.
TEST(HelpTest, ACommandIsExplainedAsByItsOption) {
  const Playground here;
  const auto help = here.bench({"run", "--help"});
  EXPECT_EQ(help.status.code, 0);
  EXPECT_THAT(help.standard_output, HasSubstr("Example:\n  bench run"));
  EXPECT_EQ(here.bench({"help", "run"}).standard_output, help.standard_output);
}

TEST(SchemaTest, IsJsonThatNamesItsDialect) {
  const Playground here;
  const auto schema = here.bench({"schema"});
  EXPECT_EQ(schema.status.code, 0);
  EXPECT_THAT(schema.standard_output, HasSubstr("json-schema.org/draft/2020-12/schema"));
  EXPECT_THAT(schema.standard_output, StartsWith("{"));
  EXPECT_TRUE(schema.standard_output.ends_with("}\n"));
}

TEST(ManualTest, HasAPageForEveryCommandWithTheOptionsOfItsHelp) {
  const Playground here;
  EXPECT_EQ(here.bench({"help", "--man", "man1"}).status.code, 0);
  for (const std::string& command : commands)
    EXPECT_THAT(
        here.read("man1/bench-" + command + ".1"),
        AllOf(StartsWith(".TH BENCH"), HasSubstr(".SH SYNOPSIS"), HasSubstr(".SH EXAMPLE")));
  EXPECT_THAT(here.read("man1/bench-run.1"), HasSubstr("\\-\\-budget"));
  EXPECT_THAT(here.read("man1/bench-baseline.1"), HasSubstr("OPTIONS OF CHECK"));
  EXPECT_THAT(here.read("man1/bench.1"),
              AllOf(HasSubstr("bench\\-continue(1)"), HasSubstr("BENCH_DATA")));
  EXPECT_THAT(here.read("man1/bench-energy.1"),
              AllOf(HasSubstr("OPTIONS OF COMBINE"), HasSubstr("\\-\\-interval TIME")));
}

TEST(ManualTest, HasNothingThatRoffTakesForSomethingElse) {
  if (find_program("groff").empty())
    GTEST_SKIP() << "groff is not installed";
  const Playground here;
  here.bench({"help", "--man", "man1"});
  for (const auto& page : fs::directory_iterator(here.path() / "man1")) {
    const CommandOutput rendered =
        run_command({.arguments = {"groff", "-ww", "-man", "-Tutf8", "-z", page.path().string()}},
                    support::far_too_long_s);
    EXPECT_EQ(rendered.standard_error, "");
    EXPECT_EQ(rendered.status.code, 0);
  }
}

TEST(ManualTest, ThatCannotBeWrittenIsAnError) {
  const Playground here;
  here.write("man1", "a file");
  const auto outcome = here.bench({"help", "--man", "man1"});
  EXPECT_EQ(outcome.status.code, 1);
  EXPECT_THAT(outcome.standard_error, StartsWith("error: cannot create directory man1: "));
}

TEST(HelpTest, TopicsAreListedAndExplained) {
  const Playground here;
  const auto list = here.bench({"help"});
  EXPECT_EQ(list.status.code, 0);
  EXPECT_THAT(list.standard_output,
              AllOf(StartsWith("Commands (`bench help COMMAND`):\n  run"),
                    HasSubstr("\n  parameterset   parameters that steps use together\n"),
                    HasSubstr("\n  jube_variables   names that are always defined\n")));
  const auto topic = here.bench({"help", "jube_pattern"});
  EXPECT_EQ(topic.status.code, 0);
  EXPECT_THAT(topic.standard_output, HasSubstr("jube_pat_bl: white space"));
  EXPECT_EQ(here.bench({"help", "parameter_tag"}).standard_output,
            here.bench({"help", "parameter"}).standard_output);
  EXPECT_THAT(here.bench({"help", "ALL"}).standard_output,
              AllOf(HasSubstr("\nstep - commands"), HasSubstr("\nexit_codes - the")));
  const auto unknown = here.bench({"help", "analyzer"});
  EXPECT_EQ(unknown.status.code, 2);
  EXPECT_EQ(unknown.standard_error,
            "error: unknown help topic 'analyzer'\nhint: did you mean 'analyser'?\n");
}

TEST(HelpTest, NoTopicHidesAnother) {
  const Playground here;
  const std::string list = here.bench({"help"}).standard_output;
  std::set<std::string> topics;
  for (const std::string& line : split(list.substr(list.find("\n\n")), "\n"))
    if (line.starts_with("  ") && !line.starts_with("   ")) {
      EXPECT_TRUE(topics.insert(split_names(line, " ").front()).second) << line;
    }
  EXPECT_THAT(topics, testing::Contains("error_ids"));
}

TEST(HelpTest, AMetricIsExplainedWithItsFormulaAndSource) {
  const Playground here;
  const auto speedup = here.bench({"help", "metric", "speedup"});
  EXPECT_EQ(speedup.status.code, 0);
  EXPECT_THAT(speedup.standard_output, HasSubstr("base(time) / time"));
  EXPECT_THAT(speedup.standard_output, HasSubstr("Source: Amdahl"));
  EXPECT_THAT(here.bench({"help", "metric"}).standard_output,
              HasSubstr("\n    strong_efficiency "));
  const auto unknown = here.bench({"help", "metric", "speedupp"});
  EXPECT_EQ(unknown.status.code, 2);
  EXPECT_THAT(unknown.standard_error, HasSubstr("did you mean 'speedup'?"));
}

/// Loads the completion in bash and asks it for what it makes of the words; the last is completed.
std::string completions(const Playground& here, const std::string& words,
                        const std::string& program = "bench") {
  fs::create_directories(here.path() / ".programs");
  if (const fs::path link = here.path() / ".programs" / program; !fs::is_symlink(link))
    fs::create_symlink(BENCH_PROGRAM, link);
  here.write("completion.bash",
             here.bench({"complete", "-s", "bash", "-c", program}).standard_output);
  const std::string script = "PATH=$PWD/.programs:$PATH; source completion.bash; COMP_WORDS=(" +
                             words + "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); $(complete -p " +
                             program +
                             " | sed 's/.*-F \\([^ ]*\\).*/\\1/'); echo \"${COMPREPLY[*]}\"";
  const auto bash = run_command(
      {.arguments = {"bash", "--norc", "-c", script}, .directory = here.path(), .environment = {}},
      support::far_too_long_s);
  EXPECT_THAT(bash.standard_error, IsEmpty());
  return bash.standard_output;
}

TEST(CompleteTest, BashCompletesCommands) {
  const Playground here;
  EXPECT_EQ(completions(here, "bench re"), "result report references remove\n");
  EXPECT_EQ(completions(here, "jube co", "jube"), "continue compare comment complete\n");
}

TEST(CompleteTest, BashCompletesTheCommandsOfACommand) {
  const Playground here;
  here.write("revocation/file", "");
  EXPECT_EQ(completions(here, "bench baseline rev"), "revocation revoke\n");
  EXPECT_EQ(completions(here, "bench mlperf sc"), "score\n");
}

TEST(CompleteTest, BashCompletesOptionsOfTheCommand) {
  const Playground here;
  EXPECT_EQ(completions(here, "bench run --in"), "--include-path\n");
  EXPECT_EQ(completions(here, "bench status --in"), "\n");
  EXPECT_EQ(completions(here, "bench baseline check --la"), "--last\n");
}

TEST(CompleteTest, BashCompletesFilesIdsAndTopics) {
  const Playground here;
  here.write("small.yaml", small_sweep());
  here.bench({"run", "small.yaml", "-i", "12"});
  EXPECT_EQ(completions(here, "bench run sm"), "small.yaml\n");
  for (const char* command : {"info", "report", "mlflow", "baseline check"})
    EXPECT_EQ(completions(here, std::string("bench ") + command + " ru"), "runs\n") << command;
  EXPECT_EQ(completions(here, "bench info runs -i ''"), "12 last all\n");
  EXPECT_EQ(completions(here, "bench help jube_v"), "jube_variables\n");
  EXPECT_EQ(completions(here, "bench log runs -c a"), "analyse\n");
  EXPECT_EQ(completions(here, "bench references epicure_gpt_s"), "epicure_gpt_small\n");
}

TEST(CompleteTest, BehindAnOptionBashCompletesItsValues) {
  const Playground here;
  here.write("pretty_directory/file.yaml", "");
  EXPECT_EQ(completions(here, "bench result . -s pr"), "pretty\n");
  EXPECT_EQ(completions(here, "bench result . --only pr"), "\n");
  EXPECT_EQ(completions(here, "bench info . -s pr"), "\n");
  EXPECT_EQ(completions(here, "bench run x.yaml --platform LUMI-"), "LUMI-G\n");
  EXPECT_EQ(completions(here, "bench result . --compare d2.3_ap5"), "d2.3_ap5\n");
  EXPECT_EQ(completions(here, "bench result . -u pretty_directory/f"),
            "pretty_directory/file.yaml\n");
  EXPECT_EQ(completions(here, "bench run -o pr"), "pretty_directory\n");
  EXPECT_EQ(completions(here, "bench export . --output pr"), "pretty_directory\n");
}

TEST(CompleteTest, TheScriptsAskForWordsAndWhatTheyMean) {
  const Playground here;
  for (const char* shell : {"bash", "zsh", "fish"})
    EXPECT_THAT(here.bench({"complete", "-s", shell}).standard_output, HasSubstr(" complete -- "));
  const std::string answer = here.bench({"complete", "--", ""}).standard_output;
  for (const std::string& command : commands)
    EXPECT_THAT(answer, HasSubstr("\n" + command + "\t"));
  EXPECT_EQ(here.bench({"complete", "--", "run", "x.yaml", "-o", ""}).standard_output,
            "directories\n");
  EXPECT_EQ(here.bench({"complete", "--", "nothing", "x"}).standard_output, "none\n");
}

TEST(CompleteTest, FishShowsWordsAndFiles) {
  if (find_program("fish").empty())
    GTEST_SKIP() << "fish is not installed";
  const Playground here;
  here.write("small.yaml", small_sweep());
  here.write("completion.fish", here.bench({"complete", "-s", "fish"}).standard_output);
  fs::create_symlink(BENCH_PROGRAM, here.path() / "bench");
  const auto fish =
      run_command({.arguments = {"fish", "--no-config", "-c",
                                 "set PATH $PWD $PATH; source completion.fish; "
                                 "complete -C 'bench run sm'; complete -C 'bench result . -s pr'"},
                   .directory = here.path(),
                   .environment = {}},
                  support::far_too_long_s);
  EXPECT_EQ(fish.standard_output, "small.yaml\npretty\n");
}

TEST(CompleteTest, TheShellOfTheUserIsTheDefault) {
  const Playground here;
  EXPECT_THAT(here.bench({"complete"}, {{"SHELL", "/bin/zsh"}}).standard_output,
              StartsWith("#compdef bench\n"));
}

TEST(CompleteTest, AProgramNameThatTheShellWouldExecuteIsRefused) {
  const Playground here;
  const auto refused = here.bench({"complete", "-c", "x; rm -r ."});
  EXPECT_EQ(refused.status.code, 1);
  EXPECT_THAT(refused.standard_error,
              StartsWith("error: 'x; rm -r .' is not the name of a program\n"));
}

TEST(HelpTest, AReaderThatGoesAwayIsNoFailure) {
  const Playground here;
  const auto output =
      run_command({.arguments = {"sh", "-c", std::string(BENCH_PROGRAM) + " help ALL | head -n 1"},
                   .directory = here.path(),
                   .environment = {}},
                  support::far_too_long_s);
  EXPECT_EQ(output.standard_output, "Commands (`bench help COMMAND`):\n");
  EXPECT_THAT(output.standard_error, IsEmpty());
}

TEST(HelpTest, NamesEveryExitCodeAndVariable) {
  const Playground here;
  EXPECT_THAT(here.text_of("help", {"exit_codes"}, 0),
              AllOf(HasSubstr(" 3: `baseline check` is undecided"), HasSubstr("130, 143, 129: ")));
  EXPECT_THAT(here.text_of("help", {"environment"}, 0),
              AllOf(HasSubstr("JUBE_VERBOSE: "), HasSubstr("JUBE_GROUP_NAME: "),
                    HasSubstr("BENCH_PATIENCE_S: ")));
}

}  // namespace
}  // namespace bench::end_to_end
