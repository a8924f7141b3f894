#include "ap4/data.hpp"
#include "ap4/network.hpp"
#include "data/field_files.hpp"
#include "data/files.hpp"
#include "step_programs/program_runner.hpp"
#include "steps/command_line.hpp"
#include "steps/synthetic_batches.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#ifdef BENCH_STEPS_NETCDF
#include "steps_data/netcdf_test_file.hpp"
#endif

namespace bench::ap4 {
namespace {

using Shape = std::vector<std::int64_t>;
using testing::ContainsRegex;

TEST(Ap4Network, PredictsADistributionAtEachGridPoint) {
  const torch::NoGradGuard no_gradient;
  UNet network;
  for (const std::int64_t height : {12, 13})
    EXPECT_EQ(network(torch::rand({2, predictor_count, height, 16})).sizes(),
              (Shape{2, output_count, height, 16}));
}

// Between two points lie a quarter and three quarters of their difference, outside the point
// itself.
TEST(Ap4Network, EnlargesBilinearlyAndRepeatsTheFirstRow) {
  const torch::Tensor x = torch::tensor({0.0F, 4.0F}).view({1, 1, 2, 1});
  const torch::Tensor even = join_enlarged(x, torch::full({1, 1, 4, 2}, 9.0F));
  EXPECT_TRUE(torch::equal(even.select(1, 0), torch::full({1, 4, 2}, 9.0F)));
  EXPECT_TRUE(
      torch::equal(even.select(1, 1).select(2, 0), torch::tensor({{0.0F, 1.0F, 3.0F, 4.0F}})));
  const torch::Tensor odd = join_enlarged(x, torch::zeros({1, 1, 5, 2}));
  EXPECT_TRUE(
      torch::equal(odd.select(1, 1).select(2, 1), torch::tensor({{0.0F, 0.0F, 1.0F, 3.0F, 4.0F}})));
}

/// The integral of (F(x) - 1{x >= observation})^2 by the midpoint rule, F of N(mean, deviation^2):
/// the definition of the score.
double integrated_crps(double mean, double deviation, double observation) {
  constexpr int steps = 400'000;
  const double low = std::min(mean - 10 * deviation, observation);
  const double high = std::max(mean + 10 * deviation, observation);
  const double width = (high - low) / steps;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    const double x = low + (i + 0.5) * width;
    const double below = 0.5 * std::erfc((mean - x) / deviation / std::numbers::sqrt2);
    const double difference = below - (x >= observation ? 1 : 0);
    sum += difference * difference * width;
  }
  return sum;
}

struct Score {
  std::string name;
  double mean;
  double deviation;
  double observation;
};
TEST(Ap4Score, IsTheIntegralOfItsDefinition) {
  const Score cases[] = {{"AtTheMean", 0, 1, 0},
                         {"Below", 0, 1, -0.7},
                         {"Above", 2, 0.5, 3.1},
                         {"FarAway", 52000, 40, 52400},
                         {"Wide", -3, 20, 1}};
  for (const Score& c : cases) {
    SCOPED_TRACE(c.name);
    const auto& [name, mean, deviation, observation] = c;
    const double score = gaussian_crps(torch::full({1}, mean - observation, torch::kDouble),
                                       torch::full({1}, deviation, torch::kDouble))
                             .item<double>();
    EXPECT_NEAR(score / integrated_crps(mean, deviation, observation), 1, 1e-4);
  }
}

TEST(Ap4Loss, OfAnAlmostCertainPredictionIsItsAbsoluteError) {
  const torch::Tensor error = torch::tensor({-2.0, 0.0, 3.0}, torch::kDouble);
  EXPECT_TRUE(torch::allclose(gaussian_crps(error, torch::full_like(error, 1e-6)), error.abs(),
                              1e-6, 1e-6));
}

// N(m + s a, (s exp(b))^2), the mean over two points.
TEST(Ap4Loss, ScalesTheOutputsByTheEnsemble) {
  const auto points = [](double first, double second) {
    return torch::tensor({first, second}, torch::kDouble).view({1, 1, 1, 2});
  };
  const torch::Tensor output = torch::cat({points(0.5, -1), points(0.2, -0.3)}, 1);
  const torch::Tensor scale = torch::cat({points(52000, 53000), points(80, 120)}, 1);
  const double expected = (integrated_crps(52040, 80 * std::exp(0.2), 51950) +
                           integrated_crps(52880, 120 * std::exp(-0.3), 53010)) /
                          2;
  EXPECT_NEAR(crps_loss(output, scale, points(51950, 53010)).item<double>() / expected, 1, 1e-4);
}

TEST(Ap4Loss, KeepsItsDigitsInFp32) {
  const steps::Batch batch = synthetic_fields(1, {.height = 16, .width = 16});
  const torch::Tensor output = torch::randn({1, 2, 16, 16});
  const double exact = crps_loss(output.to(torch::kDouble), batch["scale"].to(torch::kDouble),
                                 batch["target"].to(torch::kDouble))
                           .item<double>();
  EXPECT_NEAR(crps_loss(output, batch["scale"], batch["target"]).item<double>() / exact, 1, 1e-6);
}

TEST(Ap4Synthetic, ErrorOfTheEnsembleFollowsTheTemperature) {
  const steps::Batch batch = synthetic_fields(4, {.height = 64, .width = 64});
  const torch::Tensor error =
      ((batch["target"].select(1, 0) - batch["scale"].select(1, 0)) / batch["scale"].select(1, 1))
          .flatten();
  const torch::Tensor temperature =
      batch["predictors"].select(1, static_cast<std::int64_t>(Variable::temperature)).flatten();
  EXPECT_NEAR(error.std().item<double>(), 1, 0.03);
  EXPECT_NEAR((error * temperature).mean().item<double>(), 0.9, 0.03);
}

TEST(Ap4Options, RefuseAGridThatTheNetworkCannotHalve) {
  EXPECT_NO_THROW(check_grid({}, 1));
  EXPECT_NO_THROW(check_grid({.height = 4, .width = 8}, 1));
  EXPECT_NO_THROW(check_grid({.height = 5, .width = 4}, 2));
  EXPECT_THAT(steps::refusal_of([] { check_grid({.height = 362, .width = 720}, 1); }),
              ContainsRegex("362 is not a multiple of 4, or one more\nhint: .*--height 360"));
}

TEST(Ap4Options, RefuseAGridWithoutVariance) {
  EXPECT_THAT(steps::refusal_of([] { check_grid({.height = 5, .width = 4}, 1); }),
              ContainsRegex("one value per channel.*\nhint: .*--width 8 or more"));
}

// ENS-10's files, written with netCDF itself.

#ifdef BENCH_STEPS_NETCDF

using support::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Grid tiny{.height = 1, .width = 2};

/// Two times in five files. A number tells its file (thousands), variable (hundreds) and place.
class Ens10Test : public testing::Test {
 protected:
  Ens10Test() {
    const std::vector<std::string> all{"Z", "T", "Q", "W", "D", "U", "V"};
    write("ENS10_pl_mean_normalized.nc", all, 1000);
    write("ENS10_pl_std_normalized.nc", all, 2000);
    write("ENS10_pl_mean.nc", {"Z", "T"}, 3000);
    write("ENS10_pl_std.nc", {"Z"}, 4000);
    write("ERA5_z500.nc", {"Z"}, 5000);
  }

  void write(const std::string& name, const std::vector<std::string>& variables,
             std::uint64_t first, const std::vector<std::size_t>& shape = {2, 1, 1, 2}) const {
    steps::NetcdfTestFile file(path(name));
    for (const std::string& variable : variables) {
      file.add(variable, shape, first);
      first += 100;
    }
  }

  std::string path(const std::string& name) const { return folder_.file(name); }
  std::unique_ptr<steps::FieldSource> open() const {
    return open_ens10(steps::find_data_files(folder_.file(""), steps::netcdf_endings), tiny);
  }
  std::string data_error() const {
    return message_of<steps::DataError>([&] { open(); });
  }

 private:
  steps::Folder folder_;
};

TEST_F(Ens10Test, HasMeansAndDeviationsOfAllVariables) {
  const auto source = open();
  EXPECT_EQ(source->samples(), 2U);
  EXPECT_EQ(source->fields(), fields(tiny));
  EXPECT_EQ(source->bytes(), 2U * 2 * 4 * (14 + 2 + 1));
  auto sample = steps::read_sample(*source, 1);
  EXPECT_THAT(sample["predictors"],
              ElementsAre(1002, 1003, 1102, 1103, 1202, 1203, 1302, 1303, 1402, 1403, 1502, 1503,
                          1602, 1603, 2002, 2003, 2102, 2103, 2202, 2203, 2302, 2303, 2402, 2403,
                          2502, 2503, 2602, 2603));
  EXPECT_THAT(sample["scale"], ElementsAre(3002, 3003, 4002, 4003));
  EXPECT_THAT(sample["target"], ElementsAre(5002, 5003));
}

TEST_F(Ens10Test, MayHaveNoDimensionOfLevels) {
  write("ERA5_z500.nc", {"Z"}, 5000, {2, 1, 2});
  EXPECT_THAT(steps::read_sample(*open(), 0)["target"], ElementsAre(5000, 5001));
}

TEST_F(Ens10Test, TellsTheFileThatIsMissing) {
  std::filesystem::remove(path("ENS10_pl_std.nc"));
  EXPECT_THAT(message_of<steps::UsageError>([&] { open(); }),
              HasSubstr("no file ENS10_pl_std.nc among the 4 files of the data set"));
}

TEST_F(Ens10Test, RefusesSeveralLevels) {
  write("ENS10_pl_std.nc", {"Z"}, 4000, {2, 2, 1, 2});
  EXPECT_EQ(data_error(), path("ENS10_pl_std.nc") +
                              ": variable 'Z' has fields of shape (2, 1, 2), expected (1, 2) of "
                              "one level");
}

TEST_F(Ens10Test, RefusesOtherTimes) {
  write("ERA5_z500.nc", {"Z"}, 5000, {3, 1, 1, 2});
  EXPECT_EQ(data_error(), path("ERA5_z500.nc") + ": 3 times, ENS10_pl_mean_normalized.nc has 2");
}

#endif

}  // namespace
}  // namespace bench::ap4
