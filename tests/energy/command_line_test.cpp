#include "energy/fixtures.hpp"

#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/energy/program/command_line.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;

constexpr std::array table{
    OptionRow{"--out", Arity::one, "DIR", "here", "Where to"},
    OptionRow{"--kind", Arity::repeated, "NAME"},
    OptionRow{"--names", Arity::words, "NAME"},
    OptionRow{.name = "--quiet", .help = "Say nothing"},
};

CommandLine read(const std::vector<std::string>& arguments,
                 Operands operands = Operands::at_the_end) {
  return {table, arguments, operands};
}

TEST(CommandLine, TakesValuesApartAndAttached) {
  EXPECT_EQ(read({"--out", "a"}).value("--out"), "a");
  EXPECT_EQ(read({"--out=a=b"}).value("--out"), "a=b");
  EXPECT_EQ(read({"--out="}).value("--out"), "");
  EXPECT_EQ(read({"--out", "-1"}).value("--out"), "-1");
  EXPECT_EQ(read({}).value("--out"), "here");
}

TEST(CommandLine, KeepsRepeatedValuesInTheirOrder) {
  EXPECT_THAT(read({"--kind", "a", "--quiet", "--kind=b"}).values("--kind"), ElementsAre("a", "b"));
}

TEST(CommandLine, OfWordsTakesAllUpToTheNextOption) {
  const CommandLine line = read({"--names", "a", "b", "--quiet", "c", "d"});
  EXPECT_THAT(line.values("--names"), ElementsAre("a", "b"));
  EXPECT_THAT(line.operands(), ElementsAre("c", "d"));
}

TEST(CommandLine, FirstOperandEndsTheOptions) {
  const CommandLine line = read({"--quiet", "a", "--out", "--unheard"});
  EXPECT_TRUE(line.has("--quiet"));
  EXPECT_FALSE(line.has("--out"));
  EXPECT_THAT(line.operands(), ElementsAre("a", "--out", "--unheard"));
}

TEST(CommandLine, OperandsMayStandAnywhere) {
  const CommandLine line = read({"a", "--out", "x", "-", "--", "--quiet"}, Operands::anywhere);
  EXPECT_EQ(line.value("--out"), "x");
  EXPECT_FALSE(line.has("--quiet"));
  EXPECT_THAT(line.operands(), ElementsAre("a", "-", "--quiet"));
}

TEST(CommandLine, HelpIsAsMuchAsIsLookedAt) {
  EXPECT_TRUE(read({"--quiet", "--help", "--unheard"}).wants_help());
  EXPECT_TRUE(read({"-h"}).wants_help());
  EXPECT_FALSE(read({"a", "--help"}).wants_help());
}

TEST(CommandLine, TellsTheFirstUnknownOption) {
  EXPECT_EQ(read({"--quiet", "--oot=x", "--what"}).unknown(), "--oot=x");
  EXPECT_EQ(read({"-q"}).unknown(), "-q");
  EXPECT_EQ(read({"--ou", "x"}).unknown(), "--ou");  // no part of a name is taken for it
  EXPECT_EQ(read({"--quiet"}).unknown(), "");
}

struct MisuseCase {
  std::string name;
  std::vector<std::string> arguments;
  std::string message;
  std::string hint;
};
class CommandLineMisuseTest : public testing::TestWithParam<MisuseCase> {};

TEST_P(CommandLineMisuseTest, IsAnError) {
  EXPECT_EQ(message_and_hint_of([] { read(GetParam().arguments); }),
            GetParam().message + " | " + GetParam().hint);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, CommandLineMisuseTest,
    testing::Values(
        MisuseCase{"NoValue", {"--quiet", "--out"}, "--out needs a value", "--out DIR"},
        MisuseCase{"AnOptionForAValue", {"--out", "--quiet"}, "--out needs a value", "--out DIR"},
        MisuseCase{"NoWord", {"--names", "--quiet"}, "--names needs a value", "--names NAME"},
        MisuseCase{"Twice", {"--out", "a", "--out=b"}, "--out is given twice", ""},
        MisuseCase{"ValueOfAFlag", {"--quiet=yes"}, "--quiet takes no value", ""}),
    [](const auto& test) { return test.param.name; });

TEST(CommandLine, HelpHasTheValueAndThePreset) {
  const std::array options{OptionRow{"--out", Arity::one, "DIR", "here", "Where to put all"},
                           OptionRow{"--of", Arity::repeated, "KIND", "", "Of these"},
                           OptionRow{.name = "--quiet", .help = "Say nothing"}};
  std::string text;
  for (const Help::Row& row : rows_of(options))
    text += row.left + "|" + row.text + "\n";
  EXPECT_EQ(text, "--out DIR=here|Where to put all\n--of KIND ...|Of these\n--quiet|Say nothing\n");
}

}  // namespace
}  // namespace bench::energy
