#include "bench_program.hpp"

#include <ostream>
#include <string>

#include <gmock/gmock.h>

namespace bench::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;

/// What JUBE accepts in silence: `check` and `run` say it.
struct Accepted {
  std::string name;
  std::string yaml;  ///< Behind name and outpath.
  std::string warning;
};
void PrintTo(const Accepted& one, std::ostream* out) {
  *out << one.name;
}
class AcceptedTest : public testing::TestWithParam<Accepted> {};

TEST_P(AcceptedTest, IsWarnedOf) {
  const Playground here;
  here.write("a.yaml", "name: a\noutpath: runs\n" + GetParam().yaml);
  const auto run = here.bench({"run", "a.yaml"});
  EXPECT_EQ(run.status.code, 0) << run.standard_error;
  EXPECT_THAT(run.standard_error, HasSubstr(GetParam().warning));
  EXPECT_EQ(here.bench({"check", "a.yaml", "--strict"}).status.code, 1);
}

const std::string one_step = "step: {name: s, use: p, do: 'echo v=1'}\n";
const std::string analysed =
    "parameterset: {name: p, parameter: {n: 1}}\n" + one_step +
    "patternset: {name: q, pattern: {name: value, type: int, _: v=$jube_pat_int}}\n"
    "analyser: {name: x, use: q, analyse: {step: s, file: stdout}}\n";

INSTANTIATE_TEST_SUITE_P(
    Files, AcceptedTest,
    testing::Values(
        Accepted{"Type",
                 "parameterset: {name: p, parameter: {name: n, type: integer, _: 1}}\n" + one_step,
                 "warning: unknown type 'integer': the values of 'n' are treated as strings\n"},
        Accepted{"TagOperator",
                 "parameterset: {name: p, parameter: [{name: n, _: 1}, {name: m, tag: a && b, _: "
                 "2}]}\n" +
                     one_step,
                 "warning: tag expression 'a && b' asks for the tag 'a&&b'\n"},
        Accepted{
            "DefinedTwice",
            "parameterset: {name: p, parameter: [{name: n, _: 1}, {name: n, _: 2}]}\n" + one_step,
            "warning: parameter 'n' is defined twice in parameter set 'p'; this one counts\n"},
        Accepted{"NoValue", "parameterset: {name: p, parameter: {name: n}}\n" + one_step,
                 "warning: parameter 'n' has no value\n"},
        Accepted{"NoColumn", analysed + "result: {use: x, table: {name: t, column: []}}\n",
                 "warning: table 't' has no column\n"},
        Accepted{"Sort",
                 analysed + "result: {use: x, table: {name: t, sort: other, column: value}}\n",
                 "warning: table 't' is sorted by 'other', which is not a parameter or pattern of "
                 "this result\n"},
        Accepted{"Umlaut", "parameterset: {name: p, parameter: {name: größe, _: 1}}\n" + one_step,
                 "warning: $größe does not insert the parameter 'größe'\n"},
        Accepted{"UmlautOfTheShell",
                 "parameterset: {name: p, parameter: {n: 1}}\n"
                 "step: {name: s, use: p, do: 'echo $größe'}\n",
                 "warning: '$größe' in a command of step 's' is not a valid shell variable\n"}),
    [](const auto& one) { return one.param.name; });

TEST(Accepted, SaidToBeMeantItIsNotWarnedOf) {
  const Playground here;
  here.write(
      "a.yaml",
      "name: a\noutpath: runs\n"
      "parameterset: {name: p, duplicate: replace, parameter: [{name: n, _: 1}, {name: n, _: "
      "2}, {name: e, _: ''}]}\n" +
          one_step);
  const auto check = here.bench({"check", "a.yaml", "--strict"});
  EXPECT_EQ(check.status.code, 0) << check.standard_error;
}

TEST(Accepted, AWhereThatDropsEverythingIsAnError) {
  const Playground here;
  here.write("a.yaml",
             "name: a\noutpath: runs\nparameterset: {name: p, parameter: {n: [1, 2]}}\n"
             "step: {name: s, use: p, where: $n > 2, do: echo}\n");
  for (const char* command : {"run", "check"}) {
    const auto output = here.bench({command, "a.yaml"});
    EXPECT_EQ(output.status.code, 1);
    EXPECT_THAT(output.standard_error,
                HasSubstr("a.yaml:4:7: error: `where` of step 's' drops all "
                          "2 combinations, so that there is nothing to run\n"));
    EXPECT_FALSE(here.has("runs/000000"));
  }
}

TEST(Accepted, ContinueSaysThatAnEditedFileIsNotReadAgain) {
  const Playground here;
  here.write("a.yaml", small_sweep());
  EXPECT_EQ(here.bench({"run", "a.yaml"}).status.code, 0);
  EXPECT_THAT(here.bench({"continue", "runs"}).standard_error, Not(HasSubstr("has changed")));
  here.write("a.yaml", std::string(small_sweep()) + "# edited\n");
  const auto output = here.bench({"continue", "runs"});
  EXPECT_EQ(output.status.code, 0);
  EXPECT_THAT(output.standard_error,
              HasSubstr("note: a.yaml has changed; this run continues with the recorded version"));
}

TEST(Accepted, AnUnclosedQuoteIsCalledOne) {
  const Playground here;
  for (const char* command : {"'echo", "\"echo", "'it's'"}) {
    here.write("a.yaml",
               "name: a\noutpath: runs\nstep: {name: s, do: " + std::string(command) + "}\n");
    const auto output = here.bench({"check", "a.yaml"});
    EXPECT_EQ(output.status.code, 1);
    EXPECT_THAT(output.standard_error, HasSubstr("quote")) << command;
  }
}

}  // namespace
}  // namespace bench::end_to_end
