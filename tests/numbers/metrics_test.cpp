#include "support/error_of.hpp"

#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/unit.hpp>
#include <bench/numbers/calculation.hpp>
#include <bench/numbers/expression.hpp>
#include <bench/numbers/metric.hpp>

namespace bench::numbers {
namespace {

/// A value with its unit, which is also its name.
using Given = std::pair<double, std::string>;

struct Result {
  double value;
  std::string unit;
};

Request request_of(const std::string& metric, const std::vector<Given>& given, bool has_baseline) {
  Request request{.metric = metric,
                  .has_baseline = has_baseline,
                  .place = {"in.yaml", 2, 5},
                  .of_place = {"in.yaml", 2, 9}};
  for (std::size_t k = 0; k < given.size(); ++k)
    request.of.push_back("v" + std::to_string(k));
  return request;
}

Calculation calculation_of(const Request& request, const std::vector<Given>& given) {
  return {request, [&](const std::string& name) {
            return unit::Unit(given.at(std::stoul(name.substr(1))).second);
          }};
}

Result result_of(const std::string& metric, const std::vector<Given>& given,
                 const std::vector<double>& baseline = {}, const std::string& unit = "") {
  Request request = request_of(metric, given, !baseline.empty());
  request.unit = unit;
  const Calculation calculation = calculation_of(request, given);
  std::vector<double> row;
  std::vector<double> base;
  for (const auto& [name, statistic] : calculation.needed()) {
    const std::size_t k = std::stoul(name.substr(1));
    row.push_back(given[k].first);
    if (!baseline.empty())
      base.push_back(baseline[k]);
  }
  return {calculation.value(row, base), calculation.unit()};
}

void expect(const Result& result, double value, const std::string& unit) {
  EXPECT_NEAR(result.value, value, 1e-12 * std::abs(value));
  EXPECT_EQ(result.unit, unit);
}

TEST(Metrics, SpeedUpIsOfATimeOrARate) {
  expect(result_of("speedup", {{25, "s"}}, {100}), 4, "");
  expect(result_of("speedup", {{400, "tokens/s"}}, {100}), 4, "");
}

TEST(Metrics, EfficienciesAreTheRightWayUp) {
  // twice the devices and 25 % slower: 80 % efficient, not 125 %
  expect(result_of("weak_efficiency", {{1.25, "s"}}, {1}, "%"), 80, "%");
  expect(result_of("strong_efficiency", {{62.5, "s"}, {2, "nodes"}}, {100, 1}), 0.8, "");
  expect(result_of("throughput_efficiency", {{100, "TFLOP/s"}}, {125}), 0.8, "");
  expect(result_of("throughput_efficiency", {{160, "images/s"}, {8, ""}}, {100, 4}), 0.8, "");
}

TEST(Metrics, EnergyAndTime) {
  expect(result_of("energy_ratio", {{3, "kWh"}}, {2}), 1.5, "");
  expect(result_of("energy_efficiency", {{1e6, "tokens"}, {4, "Wh"}}), 2.5e5, "tokens/Wh");
  expect(result_of("energy_efficiency", {{100, "images/s"}, {360, "W"}}, {}, "images/Wh"), 1000,
         "images/Wh");
  expect(result_of("energy_efficiency", {{400, "GB/s"}, {200, "W"}}), 2, "GB/J");
  expect(result_of("time_to_solution", {{90, "min"}}, {}, "h"), 1.5, "h");
  expect(result_of("time_to_solution", {{2, "min"}, {30, "epochs"}}), 60, "min");
  expect(result_of("time_to_solution", {{3e6, "images"}, {500, "images/s"}}), 6000, "s");
  expect(result_of("energy_to_solution", {{3e6, "tokens"}, {1000, "tokens/Wh"}}, {}, "kWh"), 3,
         "kWh");
  expect(result_of("rest", {{1, "min"}, {40, "s"}, {5, "s"}}, {}, "s"), 15, "s");
  expect(result_of("rest_share", {{100, "s"}, {60, "s"}, {15, "s"}}, {}, "%"), 25, "%");
  expect(result_of("share", {{45, "Wh"}, {0.18, "kWh"}}, {}, "%"), 25, "%");
}

/// MAELSTROM D3.7: 509.05 W for 459.13 s is printed as 107.31 (AP1 on GH200).
TEST(Metrics, ActionIsAsMaelstromPrintsIt) {
  const Result by_power = result_of("action", {{509.05, "W"}, {459.13, "s"}});
  EXPECT_NEAR(by_power.value, 107.31, 0.005);
  EXPECT_EQ(by_power.unit, "MJ*s");
  const Result by_energy = result_of("action", {{509.05 * 459.13 / 3600, "Wh"}, {459.13, "s"}});
  EXPECT_NEAR(by_energy.value, 107.31, 0.005);
  EXPECT_EQ(by_energy.unit, "MJ*s");
}

/// MLPerf HPC, Table 6: DeepCAM on 64 accelerators of Cori-GPU takes 139.29 min, 148.58 h * acc.
TEST(Metrics, ComputeBudgetIsAsMlperfPrintsIt) {
  const Result budget = result_of("compute_budget", {{139.29, "min"}, {64, "acc"}});
  EXPECT_NEAR(budget.value, 148.58, 0.005);
  EXPECT_EQ(budget.unit, "h*acc");
}

/// CARAML's GPT 800M on a GH200: 47,505 tokens/s of 990 TFLOP/s, with the FLOP per token of each
/// formula (steps/gpt counts the same).
TEST(Metrics, UtilizationFollowsTheNamedFormula) {
  const std::map<std::string, double> flop_per_token{{"mfu_causal", 5.8526e9},
                                                     {"mfu_megatron", 6.2553e9},
                                                     {"mfu_narayanan", 6.1008e9},
                                                     {"hfu_narayanan", 8.1343e9}};
  const std::vector<Given> gpt{{47505, "tokens/s"}, {16, ""},    {2048, ""},
                               {2048, "tokens"},    {50304, ""}, {1, "devices"},
                               {990, "TFLOP/s"}};
  for (const auto& [name, flop] : flop_per_token)
    EXPECT_NEAR(result_of(name, gpt).value, 47505 * flop / 990e12, 1e-5) << name;
  EXPECT_NEAR(result_of("mfu_causal", gpt, {}, "%").value, 28.1, 0.05);
  EXPECT_NEAR(
      result_of("mfu_6n", {{47505, "tokens/s"}, {908759040, ""}, {1, ""}, {990, "TFLOP/s"}}).value,
      47505 * 5.4526e9 / 990e12, 1e-5);
  expect(result_of("mfu", {{100, "images/s"}, {24.5, "GFLOP/image"}, {1, ""}, {4.9, "TFLOP/s"}}),
         0.5, "");
}

TEST(Metrics, SayWhyAResultIsNone) {
  const std::vector<Given> given{{10, "s"}, {12, "s"}};
  const Calculation rest = calculation_of(request_of("rest", given, false), given);
  EXPECT_EQ(rest.why_invalid(rest.value(std::vector{10.0, 12.0}, {})),
            "the parts are more than the whole");
  EXPECT_EQ(rest.why_invalid(0), "");
  const Calculation share = calculation_of(request_of("share", given, false), given);
  EXPECT_EQ(share.why_invalid(share.value(std::vector{1.0, 0.0}, {})),
            "its formula divides by zero or overflows");
}

TEST(Metrics, TakeNumbersAsInputs) {
  const Request request{.metric = "mfu_6n", .of = {"v0", "1e9", "4", "312 TFLOP/s"}};
  const std::vector<Given> given{{52000, "tokens/s"}};
  const Calculation calculation = calculation_of(request, given);
  EXPECT_EQ(calculation.needed().size(), 1U);
  EXPECT_NEAR(calculation.value(std::vector{52000.0}, {}), 0.25, 1e-12);
}

struct BadCase {
  std::string metric;
  std::vector<Given> given;
  bool has_baseline;
  std::string error;
};

TEST(Metrics, RefuseWhatDoesNotFit) {
  const BadCase cases[] = {
      {"speedupp",
       {{1, "s"}},
       true,
       "5: error: unknown metric 'speedupp'\nhint: did you mean 'speedup'?"},
      {"speedup",
       {{1, ""}},
       true,
       "9: error: speedup needs a time or a rate (an amount over time) as input 1, but 'v0' is "
       "without a "
       "unit\n"
       "hint: give its parameter or pattern a unit, such as `unit: s`"},
      {"speedup",
       {{1, "Wh"}},
       true,
       "9: error: speedup needs a time or a rate (an amount over time) as input 1, but 'v0' is in "
       "Wh\n"
       "hint: `bench help metric speedup` shows its formula"},
      {"speedup",
       {{1, "s"}, {1, "s"}},
       true,
       "9: error: speedup does not take 2 inputs\n"
       "hint: write `of: [time]` or `of: [rate]`; `bench help metric speedup` explains them"},
      {"speedup",
       {{1, "s"}},
       false,
       "5: error: speedup needs a baseline\n"
       "hint: name the row to compare with, such as `baseline: {nodes: 1}`"},
      {"action",
       {{1, "Wh"}, {1, "s"}},
       true,
       "5: error: action uses no baseline\nhint: remove `baseline` and `per`"},
      {"share",
       {{1, "s"}, {1, "Wh"}},
       false,
       "9: error: share of v0, v1 is in s/Wh, not a number\nhint: use inputs with matching units"},
      {"share",
       {{1, "tokens"}, {1, "images"}},
       false,
       "9: error: share of v0, v1 is in tokens/images, not a number\nhint: use inputs with "
       "matching units"},
      {"time_to_solution",
       {{1, ""}, {1, "images/s"}},
       false,
       "9: error: time_to_solution of v0, v1 is in s/images, not a time\n"
       "hint: use inputs with matching units"},
  };
  for (const BadCase& one : cases)
    EXPECT_EQ(support::error_of([&] {
                calculation_of(request_of(one.metric, one.given, one.has_baseline), one.given);
              }),
              "in.yaml:2:" + one.error);
}

TEST(Metrics, RefuseAUnitThatDoesNotFit) {
  const std::vector<Given> given{{1, "GB/s"}, {1, "W"}};
  Request request{.formula = "v0 / v1", .unit = "GB/s", .unit_place = {"in.yaml", 4, 9}};
  EXPECT_EQ(support::error_of([&] { calculation_of(request, given); }),
            "in.yaml:4:9: error: unit 'GB/s' does not fit: 'v0 / v1' is in GB/J");
  request.unit = "gb/J";
  EXPECT_EQ(support::error_of([&] { calculation_of(request, given); }),
            "in.yaml:4:9: error: unit 'gb/J' does not fit: 'v0 / v1' is in GB/J\n"
            "hint: did you mean 'GB'?");
}

/// Each formula stands in the table as text: it must be one, over its own inputs.
TEST(Metrics, EveryOneIsWhole) {
  std::set<std::string_view> names;
  for (const Metric& metric : metrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_FALSE(metric.summary.empty() || metric.source.empty()) << metric.name;
    for (const Form& form : metric.forms) {
      std::set<std::string> inputs;
      for (const Input& input : form.inputs)
        inputs.emplace(input.name);
      const auto used = Expression(form.formula, {}).names();
      EXPECT_EQ(std::set<std::string>(used.begin(), used.end()), inputs) << metric.name;
    }
  }
}

}  // namespace
}  // namespace bench::numbers
