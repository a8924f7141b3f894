#include "energy/fixtures.hpp"
#include "support/environment_variable.hpp"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/host.hpp>
#include <bench/energy/program/child.hpp>
#include <bench/energy/program/options.hpp>
#include <bench/energy/program/output.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/energy/sources/methods.hpp>

namespace bench::energy {
namespace {

using std::chrono::milliseconds;
using support::EnvironmentVariable;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names(const SourceSettings& sources) {
  std::vector<std::string> result;
  for (const Method& method : sources.methods)
    result.push_back(method.name);
  return result;
}

TEST(Options, HaveDefaults) {
  const Options options = parse_options({"--", "true"});
  EXPECT_TRUE(options.sources.automatic);
  EXPECT_EQ(options.interval, milliseconds(100));
  EXPECT_EQ(options.output.directory, "");
  EXPECT_EQ(options.output.formats, std::set{Format::csv});
  EXPECT_EQ(options.output.layout, PowerLayout::own);
  EXPECT_THAT(options.program, ElementsAre("true"));
}

TEST(Options, SayWhatBecomesOfTheProgramIfTheMeterDies) {
  const auto policy = [](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = options;
    arguments.insert(arguments.end(), {"--", "true"});
    return parse_options(arguments).on_meter_death;
  };
  EXPECT_EQ(policy({}), OnMeterDeath::survive);
  EXPECT_EQ(policy({"--on-meter-death", "survive"}), OnMeterDeath::survive);
  EXPECT_EQ(policy({"--on-meter-death", "kill"}), OnMeterDeath::kill);
  EXPECT_THROW(policy({"--on-meter-death", "die"}), Error);
}

TEST(Options, TakeSettingsWithTheirUnits) {
  EXPECT_FALSE(parse_options({"--", "true"}).settings.any());
  const Options options =
      parse_options({"--gpu-power-limit", "0.3kW", "--gpu-clock", "1.41GHz", "--cpu-governor",
                     "performance", "--thermal", "45C", "--", "true"});
  EXPECT_DOUBLE_EQ(*options.settings.gpu_power_limit_w, 300);
  EXPECT_DOUBLE_EQ(*options.settings.gpu_clock_mhz, 1410);
  EXPECT_EQ(options.settings.cpu_governor, "performance");
  EXPECT_DOUBLE_EQ(options.thermal.temperature_c, 45);
  EXPECT_THROW(parse_options({"--gpu-power-limit", "300", "--", "true"}), Error);
  EXPECT_THROW(parse_options({"--cpu-governor", "", "--", "true"}), Error);
}

TEST(Options, OfARecoveryHaveADirectory) {
  const RecoverOptions plain = parse_recover_options({"energy"});
  EXPECT_EQ(plain.directory, "energy");
  EXPECT_FALSE(plain.suffix);
  EXPECT_FALSE(plain.formats);
  const RecoverOptions chosen =
      parse_recover_options({"--suffix", "rank0", "energy", "--format", "json,csv"});
  EXPECT_EQ(chosen.suffix, "rank0");
  EXPECT_EQ(chosen.formats, (std::set{Format::csv, Format::json}));
  EXPECT_THAT(parse_recover_options({"--help"}).help, HasSubstr("bench-energy recover DIR"));
  EXPECT_THROW(parse_recover_options({}), Error);
  EXPECT_THROW(parse_recover_options({"a", "b"}), Error);
  EXPECT_THROW(parse_recover_options({"a", "--out", "b"}), Error);
}

TEST(Options, TakeFormatsRepeatedAndWithCommas) {
  const Options options =
      parse_options({"--out", "d", "--format", "csv,json", "--format", "h5", "--", "true"});
  EXPECT_EQ(options.output.formats, (std::set{Format::csv, Format::json, Format::h5}));
}

TEST(Options, LeaveTheProgramItsOwnSeparator) {
  EXPECT_THAT(parse_options({"--strict", "--", "srun", "--", "x"}).program,
              ElementsAre("srun", "--", "x"));
}

TEST(Options, OfJpwrMakeItItsCommandLine) {
  const support::EnvironmentVariable rank("OPTIONS_TEST_RANK", "3");
  const Options options = parse_options({"--methods", "pynvml", "gh", "--interval", "250",
                                         "--df-out", "d", "--df-filetype", "csv", "--df-suffix",
                                         "r%q{OPTIONS_TEST_RANK}", "--", "true"});
  EXPECT_THAT(names(options.sources), ElementsAre("nvml", "hwmon"));
  EXPECT_FALSE(options.sources.automatic);
  EXPECT_EQ(options.interval, milliseconds(250));
  EXPECT_EQ(options.output.directory, "d");
  EXPECT_EQ(options.output.suffix, "r3");
  EXPECT_EQ(options.output.formats, std::set{Format::csv});
  EXPECT_EQ(options.output.layout, PowerLayout::jpwr);
  EXPECT_THAT(options.program, ElementsAre("true"));
}

TEST(Options, OfJpwrKeepItsDefaultFileType) {
  EXPECT_EQ(parse_options({"--df-out", "d", "true"}).output.formats, std::set{Format::h5});
}

TEST(Options, OfJpwrTakeAnIntervalWithAUnit) {
  EXPECT_EQ(parse_options({"--df-suffix", "x", "--interval", "2s", "true"}).interval,
            milliseconds(2000));
}

TEST(Options, OfJpwrNeedNoSeparator) {
  const Options options = parse_options(
      {"--methods", "gh", "--df-filetype", "csv", "stress-ng", "--gpu", "8", "--interval", "5"});
  EXPECT_THAT(options.program, ElementsAre("stress-ng", "--gpu", "8", "--interval", "5"));
  EXPECT_EQ(options.interval, milliseconds(100));
}

TEST(Options, OfJpwrLeaveTheProgramItsOwnSeparator) {
  EXPECT_THAT(parse_options({"--methods", "gh", "--strict", "srun", "-n2", "--", "x"}).program,
              ElementsAre("srun", "-n2", "--", "x"));
}

TEST(Options, HelpNeedsNothingElse) {
  EXPECT_THAT(parse_options({"--help"}).help, HasSubstr("--df-filetype"));
  EXPECT_THAT(parse_combine_options({"--help"}).help, HasSubstr("bench-energy combine FILES..."));
}

TEST(Options, OfCombine) {
  const CombineOptions options = parse_combine_options({"a.csv", "--output", "o.csv", "b.csv"});
  EXPECT_THAT(options.files, ElementsAre("a.csv", "b.csv"));
  EXPECT_EQ(options.output, "o.csv");
  EXPECT_EQ(parse_combine_options({"a.csv"}).output, "combined_energy.csv");
  EXPECT_EQ(parse_combine_options({"a.txt", "b.txt"}).output, "combined_energy.txt");
  EXPECT_EQ(parse_combine_options({"a.txt", "--output", "o"}).output, "o");
  EXPECT_FALSE(options.in_sequence);
  EXPECT_TRUE(parse_combine_options({"--in-sequence", "a.txt"}).in_sequence);
  EXPECT_EQ(parse_combine_options({"energy_1/", "/"}).output, "combined_energy.txt");
}

struct OptionsMistakeCase {
  std::string name;
  std::vector<std::string> arguments;
  std::string message;
  std::string hint;
};
class OptionsMistakeTest : public testing::TestWithParam<OptionsMistakeCase> {};

TEST_P(OptionsMistakeTest, IsAnErrorWithAHint) {
  std::vector<std::string> arguments = GetParam().arguments;
  const bool combine = arguments[0] == "combine";
  EXPECT_EQ(message_and_hint_of([&] {
              if (combine)
                parse_combine_options({arguments.begin() + 1, arguments.end()});
              else
                parse_options(arguments);
            }),
            GetParam().message + " | " + GetParam().hint);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, OptionsMistakeTest,
    testing::Values(
        OptionsMistakeCase{"MixedWithJpwrs",
                           {"--method", "nvml", "--df-out", "d", "true"},
                           "--method and jpwr's --df-out exclude each other",
                           "use either --method, --out, --suffix, --format or --methods, --df-out, "
                           "--df-suffix, --df-filetype"},
        OptionsMistakeCase{"BareIntervalWithoutJpwrs",
                           {"--interval", "100", "--", "true"},
                           "'100' is not a number with a unit",
                           "write it like 100ms"},
        OptionsMistakeCase{"IntervalOfJpwrOutOfRange",
                           {"--methods", "gh", "--interval", "0", "true"},
                           "--interval 0 is out of range",
                           "1ms to 10s"},
        OptionsMistakeCase{"WaitOutOfRange",
                           {"--wait-ready", "2000min", "--", "true"},
                           "--wait-ready 2000min is out of range",
                           "0s to 60min"},
        OptionsMistakeCase{"UnknownFormat",
                           {"--out", "d", "--format", "jsn", "--", "true"},
                           "unknown format 'jsn'",
                           "did you mean 'json'?"},
        OptionsMistakeCase{"FormatWithoutAPlace",
                           {"--format", "json", "--", "true"},
                           "--format needs a place for the files",
                           "name a directory with --out"},
        OptionsMistakeCase{"NoNameOfADirectory",
                           {"--out", "", "--", "true"},
                           "--out names no directory",
                           "without --out no files are written"},
        OptionsMistakeCase{"UnknownFileTypeOfJpwr",
                           {"--df-out", "d", "--df-filetype", "json", "true"},
                           "unknown --df-filetype 'json'",
                           "h5 or csv"},
        // jpwr, too, takes every word up to the next option for a method.
        OptionsMistakeCase{"ProgramBehindMethods",
                           {"--methods", "gh", "mok", "1"},
                           "unknown method 'mok'",
                           "did you mean 'mock'?"},
        OptionsMistakeCase{"AlmostAMethodOfJpwr",
                           {"--methods", "pynvm", "--", "true"},
                           "unknown method 'pynvm'",
                           "did you mean 'pynvml'?"},
        OptionsMistakeCase{"TemperatureThatIsNoNumber",
                           {"--thermal", "nanC", "--", "true"},
                           "thermal is stable, a temperature or a time, not 'nanC'",
                           "write it like stable, 45C or 60s"},
        OptionsMistakeCase{"PauseWithoutEnd",
                           {"--thermal", "infs", "--", "true"},
                           "thermal is stable, a temperature or a time, not 'infs'",
                           "write it like stable, 45C or 60s"},
        OptionsMistakeCase{"PauseOfDays",
                           {"--thermal", "5000min", "--", "true"},
                           "thermal 5000min is out of range",
                           "0s to 60min"},
        OptionsMistakeCase{
            "PowerLimitThatIsNoNumber",
            {"--gpu-power-limit", "nanW", "--", "true"},
            "the power limit of a GPU is a number above zero with a unit, not 'nanW'",
            "write it like 300W"},
        OptionsMistakeCase{"ClockOfNoGpu",
                           {"--gpu-clock", "1e30GHz", "--", "true"},
                           "the clock of a GPU is not as high as 1e30GHz",
                           ""},
        OptionsMistakeCase{"IntervalBelowZero",
                           {"--interval", "-5ms", "--", "true"},
                           "'-5ms' is below zero",
                           "write it like 100ms"},
        OptionsMistakeCase{
            "CommandWithABlankInItsName",
            {"--method", "command:p q=echo 4", "--", "true"},
            "'p q' is not a name for a command's meter",
            "command:NAME=COMMAND or command:NAME/5s=COMMAND; a name has letters, digits, "
            "'_', '-' and '.' only"},
        OptionsMistakeCase{
            "MpiOfJpwr",
            {"--methods", "gh", "--use-mpi", "true"},
            "jpwr's option --use-mpi is not supported",
            "leave it out: one meter samples on each node, and MPI is the program's alone"},
        OptionsMistakeCase{
            "UnknownOption", {"-x"}, "unknown option '-x'", "see bench-energy --help"},
        OptionsMistakeCase{"UnknownMethod",
                           {"--method", "rapl,nvm", "--", "true"},
                           "unknown method 'nvm'",
                           "did you mean 'nvml'?"},
        OptionsMistakeCase{"NoSeparator",
                           {"true"},
                           "unexpected argument 'true'",
                           "put -- before the program: bench-energy [options] -- program args"},
        OptionsMistakeCase{"NoProgram",
                           {"--method", "rapl"},
                           "no program to run",
                           "bench-energy [options] -- program args"},
        OptionsMistakeCase{"IntervalOutOfRange",
                           {"--interval", "0.1ms", "--", "true"},
                           "--interval 0.1ms is out of range",
                           "1ms to 10s"},
        OptionsMistakeCase{"NoProgramForJpwr",
                           {"--df-out", "d"},
                           "no program to run",
                           "bench-energy [options] -- program args"},
        OptionsMistakeCase{"CombineNothing",
                           {"combine", "--output", "x"},
                           "no energy files to combine",
                           "bench-energy combine FILES... [--output FILE]"},
        OptionsMistakeCase{"CombineTablesInSequence",
                           {"combine", "--in-sequence", "a.txt", "b.csv"},
                           "--in-sequence is not for b.csv",
                           "it adds up energy.txt files; leave it out for tables"},
        OptionsMistakeCase{
            "CombineTablesWithSummaries",
            {"combine", "a.csv", "b.txt"},
            "b.txt is a summary and a.csv a table",
            "name files of one kind: of energy.txt files it makes a summary, of others a "
            "table"},
        OptionsMistakeCase{"CombineUnknownOption",
                           {"combine", "a.csv", "--outptu", "x"},
                           "unknown option '--outptu'",
                           "did you mean '--output'?"}),
    [](const auto& test) { return test.param.name; });

TEST(Suffix, ReplacesHostAndVariablesInPlace) {
  const EnvironmentVariable rank("SUFFIX_TEST_RANK", "3");
  EXPECT_EQ(expand_suffix("rank%q{SUFFIX_TEST_RANK}_%h_%q{SUFFIX_TEST_RANK}"),
            "rank3_" + host_name() + "_3");
}

TEST(Suffix, TakesAnEmptyVariableAsItIs) {
  const EnvironmentVariable rank("SUFFIX_TEST_RANK", "");
  EXPECT_EQ(expand_suffix("x%q{SUFFIX_TEST_RANK}"), "x");
}

TEST(Suffix, OfJpwrIsHostAndProcessBehindAPlainText) {
  const std::string own = host_name() + "." + std::to_string(::getpid());
  EXPECT_EQ(expand_jpwr_suffix(""), own);
  EXPECT_EQ(expand_jpwr_suffix("a100"), "a100." + own);
}

TEST(Suffix, OfJpwrWithAVariableIsTheTextAlone) {
  const EnvironmentVariable rank("SUFFIX_TEST_RANK", "3");
  EXPECT_EQ(expand_jpwr_suffix("%q{SUFFIX_TEST_RANK}"), "3");
  EXPECT_EQ(expand_jpwr_suffix("rank%q{SUFFIX_TEST_RANK}_x"), "rank3_x");
}

struct SuffixMistakeCase {
  std::string name;
  std::string text;
  std::string message;
};
class SuffixMistakeTest : public testing::TestWithParam<SuffixMistakeCase> {};

TEST_P(SuffixMistakeTest, IsAnErrorInBothKinds) {
  const EnvironmentVariable unset("SUFFIX_TEST_RANK", std::nullopt);
  const EnvironmentVariable path("SUFFIX_TEST_PATH", "a/b");
  for (auto* expand : {&expand_suffix, &expand_jpwr_suffix}) {
    try {
      expand(GetParam().text);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), GetParam().message);
      EXPECT_NE(error.hint(), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Energy, SuffixMistakeTest,
    testing::Values(
        SuffixMistakeCase{
            "UnsetVariable", "%q{SUFFIX_TEST_RANK}",
            "the suffix '%q{SUFFIX_TEST_RANK}' needs the variable SUFFIX_TEST_RANK, which is not "
            "set"},
        SuffixMistakeCase{"NoBraces", "a%q", "the suffix 'a%q' has a %q without a variable"},
        SuffixMistakeCase{"OpenBrace", "%q{A", "the suffix '%q{A' has a %q without a variable"},
        SuffixMistakeCase{"NoName", "%q{}", "the suffix '%q{}' has a %q without a variable"},
        SuffixMistakeCase{"Slash", "%q{SUFFIX_TEST_PATH}", "the suffix 'a/b' has a slash"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bench::energy
