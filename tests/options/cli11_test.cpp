#include "options/cli11.hpp"

#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>

#include <bench/base/help.hpp>

namespace bench::options {
namespace {

struct Program {
  CLI::App app{"Trains it.", "train"};
  std::string file;
  std::vector<std::string> tags;
  std::string precision = "fp32";
  int steps = 100;
  int epochs = 0;
  double rate = 0.1;
  bool quiet = false;

  Program() {
    app.add_option("FILE", file, "what to read")->required();
    app.add_option("-t,--tag", tags, "active tags")->type_name("TAG");
    app.add_option("--precision", precision, "of products")
        ->check(CLI::IsMember({"fp32", "bf16"}))
        ->capture_default_str();
    CLI::Option* of_steps =
        app.add_option("--steps", steps, "measured")->check(CLI::Range(1, 2147483647));
    app.add_option("--epochs", epochs, "in place of them")
        ->check(CLI::Range(0, 1000))
        ->excludes(of_steps);
    app.add_option("--rate", rate)->check(CLI::PositiveNumber)->required();
    app.add_flag("-q,--quiet", quiet, "say nothing")->needs("--rate");
    app.add_flag("--secret")->group("");
  }

  /// Message and hint for these arguments.
  std::string refusal(const std::vector<std::string>& arguments) {
    try {
      app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::ParseError& error) {
      const Refusal refusal = refusal_of(app, error, arguments);
      return refusal.message + "|" + refusal.hint;
    }
    return "";
  }
};

TEST(HelpOfCli11, SaysWhatAValueMayBe) {
  const Program program;
  EXPECT_EQ(text_of(help_of(program.app, "train")), R"(Trains it.

Usage: train [OPTIONS] FILE

Arguments:
  FILE                      what to read

Options:
  -h, --help                Print this help message and exit
  -t, --tag TAG ...         active tags
  --precision TEXT=fp32     of products (fp32, bf16)
  --steps INT               measured (1 or more; not with --epochs)
  --epochs INT              in place of them (0 to 1000; not with --steps)
  --rate FLOAT              (required; above 0)
  -q, --quiet               say nothing (only with --rate)
)");
}

TEST(HelpOfCli11, ListsCommandsByTheirGroups) {
  CLI::App app("Does much.", "it");
  app.require_subcommand(1);
  app.footer("There is more.");
  app.add_subcommand("run", "runs")->group("Run");
  CLI::App* accept = app.add_subcommand("accept", "accepts")->group("Results");
  accept->footer("  it accept all");
  accept->add_subcommand("all", "accepts all");
  const std::string all = text_of(help_of(app, "it"));
  EXPECT_THAT(all, testing::HasSubstr("Usage: it [OPTIONS] COMMAND\n"));
  EXPECT_TRUE(
      all.ends_with("\nRun:\n  run                       runs\n"
                    "\nResults:\n  accept                    accepts\n"
                    "\nThere is more.\n"));
  EXPECT_TRUE(text_of(help_of(*accept, "it accept"))
                  .ends_with("\nCommands:\n  all                       accepts all\n"
                             "\nExample:\n  it accept all\n"));
}

TEST(RefusalOfCli11, NamesWhatIsWrongAndWhatMayBeMeant) {
  const struct {
    std::vector<std::string> arguments;
    std::string refusal;
  } cases[] = {
      {{"a", "--rate", "1", "--stepz", "3"}, "unknown option '--stepz'|did you mean '--steps'?"},
      {{"--stepz=3"}, "unknown option '--stepz'|did you mean '--steps'?"},
      {{"a", "--rate", "1", "-x"}, "unknown option '-x'|"},
      {{"a", "--rate", "1", "b"}, "unexpected argument 'b'|"},
      {{"a", "--rate", "1", "--", "--stepz"}, "unexpected argument '--stepz'|"},
      {{"--rate", "1"}, "FILE is required|"},
      {{"a", "--rate", "1", "--precision", "fp23"},
       "--precision: unknown value 'fp23'|did you mean 'fp32'?"},
      {{"a", "--rate", "1", "--precision", "double"},
       "--precision: unknown value 'double'|known: fp32, bf16"},
      {{"a", "--rate", "0"}, "--rate: Value 0 is too small|"},
      {{"a", "--rate", "1", "--epochs", "9999"}, "--epochs: Value 9999 not in range 0 to 1000|"},
  };
  for (const auto& one : cases)
    EXPECT_EQ(Program().refusal(one.arguments), one.refusal);
}

TEST(RefusalOfCli11, KnowsTheCommandsOfAProgram) {
  const struct {
    std::vector<std::string> arguments;
    std::string refusal;
  } cases[] = {{{"acept"}, "unknown command 'acept'|did you mean 'accept'?"},
               {{"nothing"}, "unknown command 'nothing'|known: accept, revoke"},
               {{""}, "unknown command ''|known: accept, revoke"},
               {{}, "a command is required|"}};
  for (const auto& one : cases) {
    CLI::App app("", "it");
    app.require_subcommand(1);
    app.add_subcommand("accept", "");
    app.add_subcommand("revoke", "");
    try {
      app.parse(std::vector<std::string>(one.arguments));
      ADD_FAILURE() << one.refusal;
    } catch (const CLI::ParseError& error) {
      const Refusal said = refusal_of(app, error, one.arguments);
      EXPECT_EQ(said.message + "|" + said.hint, one.refusal);
    }
  }
}

}  // namespace
}  // namespace bench::options
