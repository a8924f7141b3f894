#include "bench_program.hpp"

#include <cstddef>
#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* tagged = R"(name: tagged
outpath: runs
parameterset:
  name: sweep
  parameter:
    - {name: n, tag: "!large", _: "1,2,3,4"}
    - {name: n, tag: large, _: "10,20,30,40,50,60,70,80,90"}
    - {name: m, mode: python, _: $n % 2}
step:
  - {name: compute, use: sweep, where: $n % 10 < 4, iterations: 2, do: touch ../../../evidence}
  - {name: extra, tag: "large+extra", depend: compute, do: echo}
)";

TEST(CheckTest, ShowsTheSpaceAndRunsNothing) {
  const Playground here;
  here.write("tagged.yaml", tagged);
  const auto check = here.bench({"check", "tagged.yaml"});
  EXPECT_EQ(check.status.code, 0) << check.standard_error;
  EXPECT_THAT(
      check.standard_output,
      StartsWith("benchmark tagged: 1 step, 6 workpackages, platform local\n"
                 "step compute: 3 combinations, 2 iterations, 6 workpackages, one at a time\n"
                 "  n  3 values  1, 2, 3\n"
                 "  m  2 values  1, 0\n"
                 "dropped: step compute: `where` dropped 1 of 4 combinations\n"));
  EXPECT_THAT(check.standard_output, HasSubstr("\ntagged.yaml: no error\n"));
  EXPECT_FALSE(here.has("runs"));
}

TEST(CheckTest, ShowsWhatEachTagSelects) {
  const Playground here;
  here.write("tagged.yaml", tagged);
  const auto without = here.bench({"check", "tagged.yaml"});
  EXPECT_THAT(without.standard_output,
              HasSubstr("|   tag | active |           adds |        removes |\n"
                        "|-------|--------|----------------|----------------|\n"
                        "| extra |     no |                |                |\n"
                        "| large |     no | 1: parameter n | 1: parameter n |\n"));
  const auto with = here.bench({"check", "tagged.yaml", "-t", "large"});
  EXPECT_THAT(with.standard_output,
              HasSubstr("| extra |     no | 2: step extra, do |                |\n"
                        "| large |    yes |    1: parameter n | 1: parameter n |\n"));
}

TEST(CheckTest, ListsTheFirstValuesOfMany) {
  const Playground here;
  here.write("many.yaml",
             "name: many\noutpath: runs\n"
             "parameterset: {name: p, parameter: {n: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}}\n"
             "step: {name: s, use: p, do: echo}\n");
  EXPECT_THAT(
      here.bench({"check", "many.yaml"}).standard_output,
      HasSubstr(
          "step s: 10 combinations, one at a time\n  n  10 values  1, 2, 3, 4, 5, 6, 7, 8, ...\n"));
}

TEST(CheckTest, WarningsAreCountedAndWithStrictFail) {
  const Playground here;
  here.write("typo.yaml",
             "name: typo\noutpath: runs\n"
             "parameterset: {name: p, parameter: {name: n, seperator: ;, _: 1;2}}\n"
             "step: {name: s, use: p, do: echo $n}\n");
  const auto check = here.bench({"check", "typo.yaml"});
  EXPECT_EQ(check.status.code, 0);
  EXPECT_THAT(check.standard_output, HasSubstr("\ntypo.yaml: no error, 1 warning\n"));
  EXPECT_EQ(here.bench({"check", "typo.yaml", "--strict"}).status.code, 1);
}

TEST(CheckTest, OfManyWarningsTheFirstAreShown) {
  const Playground here;
  std::string file = "name: many\noutpath: runs\nstep: {name: s, do: echo}\nfileset:\n";
  for (int k = 0; k < 150; ++k)
    file += "  - {name: f" + std::to_string(k) + ", copy: x}\n";
  here.write("many.yaml", file);
  const auto check = here.bench({"check", "many.yaml"});
  EXPECT_EQ(check.status.code, 0);
  EXPECT_THAT(check.standard_output, HasSubstr("\nmany.yaml: no error, 150 warnings\n"));
  EXPECT_THAT(check.standard_error, HasSubstr("file set 'f99' is not used"));
  EXPECT_THAT(check.standard_error, Not(HasSubstr("file set 'f100'")));
  EXPECT_THAT(check.standard_error, EndsWith("warning: only the first 100 warnings are shown\n"));
}

TEST(CheckTest, OfManyMistakesTheFirstAreRepeatedBelowTheTables) {
  const Playground here;
  std::string file = "name: many\noutpath: runs\nparameterset:\n  name: p\n  parameter:\n";
  for (int k = 0; k < 150; ++k)
    file += "    - {name: n" + std::to_string(k) + ", seperator: ;, _: 1}\n";
  const auto run =
      here.run("many.yaml", file + "step: {name: s, use: p, do: echo}\n", {"--result"});
  constexpr std::size_t told_and_repeated = 200;
  EXPECT_EQ(split(run.standard_error, "unknown key 'seperator'").size() - 1, told_and_repeated);
}

TEST(CheckTest, ListsWhatIsWrongForPrograms) {
  const Playground here;
  here.write("wrong.yaml",
             "name: wrong\noutpath: runs\n"
             "parameterset: {name: p, parameter: {name: n, seperator: ;, _: 1}}\n"
             "step: {name: s, use: q, do: echo}\n");
  const auto check = here.bench({"check", "wrong.yaml", "--style", "json"});
  EXPECT_EQ(check.status.code, 1);
  EXPECT_EQ(check.standard_error, "");
  const auto findings = nlohmann::json::parse(check.standard_output)["findings"];
  ASSERT_EQ(findings.size(), 2U);
  const auto& warning = findings[0];
  EXPECT_EQ(warning["severity"], "warning");
  EXPECT_EQ(warning["id"], "unknown-key");
  EXPECT_EQ(warning["file"], "wrong.yaml");
  EXPECT_EQ(warning["line"], 3);
  EXPECT_EQ(warning["column"], 46);
  EXPECT_EQ(warning["hint"], "did you mean 'separator'?");
  EXPECT_EQ(findings[1]["severity"], "error");
  EXPECT_EQ(findings[1]["id"], "unknown-name");
  EXPECT_FALSE(here.has("runs"));

  here.write("right.yaml", tagged);
  EXPECT_EQ(here.text_of("check", {"right.yaml", "-s", "csv"}, 0),
            "severity,id,file,line,column,message,hint\n");
}

TEST(CheckTest, TakesAnExportedRun) {
  const Playground here;
  here.write("small.yaml", small_sweep());
  here.bench({"run", "small.yaml"});
  here.bench({"export", "runs", "--output", "out"});
  EXPECT_THAT(here.text_of("check", {"out"}, 0),
              HasSubstr("benchmark small: 2 steps, 6 workpackages, platform local\n"));
  EXPECT_THAT(here.text_of("plan", {"out"}, 0), HasSubstr("total: 6 workpackages"));
}

}  // namespace
}  // namespace bench::end_to_end
