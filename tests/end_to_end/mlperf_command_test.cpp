// `bench mlperf`: which rules a log breaks, and the score of several.
#include "bench_program.hpp"
#include "support/source_directory.hpp"

#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <bench/base/files.hpp>

namespace bench::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;

class MlperfCommandTest : public testing::Test {
 protected:
  /// Writes ten logs that differ in their seeds, with energy, and returns the command for them.
  std::vector<std::string> score_of_ten(const std::string& text) {
    std::vector<std::string> arguments{"mlperf", "score", "--style", "csv"};
    for (int i = 0; i < 10; ++i) {
      std::string log = text;
      const std::string seed = R"("key": "seed", "value": 1)";
      log.replace(log.find(seed), seed.size(), fmt::format(R"("key": "seed", "value": {})", i + 1));
      const std::string file = fmt::format("{}/stdout", i);
      here_.write(file, log);
      here_.write(fmt::format("{}/energy.txt", i), "duration_s=3\nenergy_wh=12.5\n");
      arguments.push_back(file);
    }
    return arguments;
  }

  Playground here_;
  const std::string good_ =
      read_file(support::source_directory() / "examples/files/mlperf_hpc.log");
};

TEST_F(MlperfCommandTest, NamesFileLineAndRuleOfEachLogOrThatItKeepsThem) {
  here_.write("good.log", good_);
  const std::string of_good = "good.log: complies with the rules for cosmoflow (36 lines)\n";
  EXPECT_EQ(here_.text_of("mlperf", {"check", "good.log"}, 0), of_good);
  std::string bad = good_;
  bad.replace(bad.find("\"research\""), 10, "\"testing\"");
  bad.replace(bad.find("\"value\": 0.12,"), 14, "\"value\": 0.13,");
  here_.write("bad.log", bad);
  EXPECT_EQ(
      here_.text_of("mlperf", {"check", "bad.log", "good.log"}, 1),
      "bad.log: quality: eval_error never is > 0 and <= 0.124\n"
      "bad.log:7: submission_status: submission_status is \"testing\"; allowed: in cloud onprem "
      "preview research\n" +
          of_good);
}

TEST_F(MlperfCommandTest, LogsThatShareADirectoryHaveNoEnergy) {
  std::vector<std::string> arguments = score_of_ten(good_);
  here_.write("0/other", here_.read("1/stdout"));
  arguments[5] = "0/other";  // in place of 1/stdout
  arguments.emplace_back("--throughput");
  const auto score = here_.bench(arguments);
  EXPECT_EQ(score.status.code, 0) << score.standard_output << score.standard_error;
  EXPECT_THAT(score.standard_output, Not(HasSubstr(",125\n")));
  EXPECT_THAT(score.standard_error, HasSubstr("or several logs beside it"));
}

TEST_F(MlperfCommandTest, ScoresTrainings) {
  std::vector<std::string> arguments = score_of_ten(good_);
  const auto score = here_.bench(arguments);
  EXPECT_EQ(score.status.code, 0) << score.standard_output << score.standard_error;
  EXPECT_THAT(score.standard_output, HasSubstr("cosmoflow,open,none,1,4,10,"));
  EXPECT_THAT(score.standard_output, HasSubstr(",12.5\n"));

  here_.write("3/energy.txt", "energy_wh=12.5\nenergy_quality=estimated\n");
  EXPECT_THAT(here_.bench(arguments).standard_output, HasSubstr("energy[Wh] (estimated)"));

  arguments.pop_back();
  const auto too_few = here_.bench(arguments);
  EXPECT_EQ(too_few.status.code, 1);
  EXPECT_THAT(too_few.standard_error + too_few.standard_output,
              HasSubstr("the rules want 10 trainings of cosmoflow, not 9"));
}

TEST_F(MlperfCommandTest, NeedsACommandAndALogThatExists) {
  EXPECT_THAT(here_.text_of("mlperf", {"chek", "a.log"}, 2), HasSubstr("did you mean 'check'?"));
  here_.text_of("mlperf", {}, 2);
  here_.text_of("mlperf", {"check"}, 2);
  EXPECT_THAT(here_.text_of("mlperf", {"check", "no.log"}, 1), HasSubstr("no.log"));
}

}  // namespace
}  // namespace bench::end_to_end
