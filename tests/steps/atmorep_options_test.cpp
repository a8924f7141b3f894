#include "atmorep/data.hpp"
#include "atmorep/options.hpp"
#include "harness/program.hpp"
#include "steps/atmorep_tiny.hpp"
#include "support/message_of.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace bench::atmorep {
namespace {

using support::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(AtmoRepOptions, KnowFieldsByNumberAndName) {
  EXPECT_THAT(parse_fields("1"), ElementsAre("t"));
  EXPECT_THAT(parse_fields("3"), ElementsAre("t", "u", "v"));
  EXPECT_THAT(parse_fields("5"), ElementsAre("t", "u", "v", "q", "w"));
  EXPECT_THAT(parse_fields("T,u,V"), ElementsAre("t", "u", "v"));
  EXPECT_THAT(parse_fields("q"), ElementsAre("q"));
}

struct WrongFields {
  std::string name;
  std::string text;
  std::string message;
};
void PrintTo(const WrongFields& wrong, std::ostream* out) {
  *out << wrong.name;
}
class AtmoRepFieldsTest : public testing::TestWithParam<WrongFields> {};

TEST_P(AtmoRepFieldsTest, AreRefused) {
  EXPECT_EQ(message_of<steps::UsageError>([] { parse_fields(GetParam().text); }),
            GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, AtmoRepFieldsTest,
    testing::Values(WrongFields{"Unknown", "t,ciwc", "unknown field 'ciwc'"},
                    WrongFields{"Twice", "u,t,U", "field 'u' is given twice"},
                    WrongFields{"None", "0", "0 fields are not among the 5 known ones"},
                    WrongFields{"TooMany", "6", "6 fields are not among the 5 known ones"},
                    WrongFields{"Empty", "", "no field is given"},
                    WrongFields{"EmptyName", "t,,u", "unknown field ''"}),
    [](const auto& test) { return test.param.name; });

TEST(AtmoRepOptions, RefuseWhatTheNetworkCannotBe) {
  const auto refused = [](const Sizes& sizes, const Masking& masking = {}) {
    return message_of<steps::UsageError>([&] { check_options(sizes, masking); });
  };
  EXPECT_NO_THROW(check_options({}, {}));
  EXPECT_NO_THROW(check_options({}, {.rates = {0.5, 0.25, 0.1}}));
  EXPECT_EQ(refused({.width = 100}), "16 heads do not divide a width of 100");
  EXPECT_THAT(refused({.width = 16, .heads = 2}), HasSubstr("no room for tokens"));
  EXPECT_EQ(refused({}, {.rates = {0.5, 0.1}}), "2 masking rates for 3 fields");
}

TEST(AtmoRepOptions, RaiseTheLearningRateForTwoEpochsAndThenLowerIt) {
  const auto rate_after = [](double epochs) { return default_schedule().rate(epochs * 49'152); };
  EXPECT_NEAR(rate_after(0), 5e-6, 1e-12);
  EXPECT_NEAR(rate_after(1), 7.75e-5, 1e-12);
  EXPECT_NEAR(rate_after(2), 1.5e-4, 1e-12);
  EXPECT_NEAR(rate_after(3), 1.5e-4 / 1.025, 1e-10);
  EXPECT_NEAR(rate_after(12), 1.5e-4 / std::pow(1.025, 10), 1e-10);
  EXPECT_NEAR(rate_after(1000), 4e-5, 1e-12);
}

// 1 March 2020, 13 o'clock is the last hour of the second token.
TEST(AtmoRepTokenInfo, TellsLastTimeAndMiddleOfEachToken) {
  const Sizes sizes{.fields = {"t"},
                    .levels = 2,
                    .tokens = {.times = 2, .rows = 1, .columns = 2},
                    .token = {.times = 2, .rows = 3, .columns = 2}};
  constexpr float last = 24 * 43'889 + 13;
  const std::vector<float> hours{last - 27, last - 26, last - 1, last};
  const std::vector<float> levels{96, 137};
  const std::vector<float> latitudes{45, 30, 15};
  const std::vector<float> longitudes{0, 18, 36, 54};
  std::vector<float> info(static_cast<std::size_t>(sizes.field_tokens() * token_info_count));
  fill_token_info(
      {.hours = hours, .levels = levels, .latitudes = latitudes, .longitudes = longitudes}, sizes,
      info);
  const auto token = [&](std::size_t number) {
    return std::vector<double>(info.begin() + static_cast<std::ptrdiff_t>(8 * number),
                               info.begin() + static_cast<std::ptrdiff_t>(8 * number + 8));
  };
  const auto near = [](const std::vector<double>& numbers) {
    std::vector<testing::Matcher<double>> matchers;
    for (const double number : numbers)
      matchers.push_back(testing::DoubleNear(number, 1e-6));
    return testing::ElementsAreArray(matchers);
  };
  EXPECT_THAT(token(0), near({2020 / 2100.0, 59 / 365.0, 11 / 24.0, 0.096, 30 / 90.0, 18 / 360.0,
                              0.096, 18}));
  EXPECT_THAT(token(7), near({2020 / 2100.0, 60 / 365.0, 13 / 24.0, 0.137, 30 / 90.0, 54 / 360.0,
                              0.137, 18}));
}

TEST(AtmoRepSynthetic, IsTheSameForTheSameSeed) {
  const torch::Tensor first = synthetic_windows(1, tiny(), 5)["fields"];
  EXPECT_TRUE(torch::equal(first, synthetic_windows(1, tiny(), 5)["fields"]));
  EXPECT_FALSE(torch::equal(first, synthetic_windows(1, tiny(), 6)["fields"]));
}

TEST(AtmoRepSynthetic, IsNormalisedOverAllSamples) {
  const torch::Tensor fields = synthetic_windows(400, tiny())["fields"];
  EXPECT_NEAR(fields.mean().item<double>(), 0, 0.1);
  EXPECT_NEAR(fields.std().item<double>(), 1, 0.05);
}

// Four waves of less than two periods in the window: neighbours differ little.
TEST(AtmoRepSynthetic, IsSmoothInTimeAndSpace) {
  const torch::Tensor fields = synthetic_windows(20, Sizes{.fields = {"t"}, .levels = 2})["fields"];
  for (const std::int64_t dimension : {3, 4, 5})
    EXPECT_LT(fields.diff(1, dimension).abs().max().item<double>(), 0.6) << dimension;
}

}  // namespace
}  // namespace bench::atmorep
