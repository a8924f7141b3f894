// What the real bench-energy makes of sensors that did not see all of a run.
#include "energy/fixtures.hpp"
#include "energy/program_fixture.hpp"

#include <ostream>
#include <string>

#include <gmock/gmock.h>

#include <bench/base/process.hpp>

namespace bench::energy {
namespace {

using testing::HasSubstr;

struct CoverageCase {
  std::string name;
  Environment fake;  ///< Without its prefix.
  std::string script;
  std::string reason;
};
void PrintTo(const CoverageCase& c, std::ostream* out) {
  *out << c.name;
}
class ProgramCoverageTest : public testing::TestWithParam<CoverageCase> {};

TEST_P(ProgramCoverageTest, WhatWasNotSeenIsNotCalledMeasured) {
  Environment environment{{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY}};
  for (const auto& [name, value] : GetParam().fake)
    environment.emplace_back("FAKE_NVML_" + name, value);
  const CommandOutput output =
      run(metered({"--strict", "--method", "nvml", "--interval", "10ms"}, GetParam().script),
          environment);
  EXPECT_EQ(output.status.code, 125);
  const auto found = values(output.standard_error);
  EXPECT_EQ(found.count("energy_wh"), 0U);
  EXPECT_EQ(found.at("energy_quality"), "partial");
  EXPECT_THAT(found.at("energy_absent"), HasSubstr(GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(Energy, ProgramCoverageTest,
                         testing::Values(CoverageCase{"ADriverThatDoesNotComeBack",
                                                      {{"SHAPE", "late"}, {"HANG_MS", "450"}},
                                                      "sleep 2",
                                                      "its driver does not answer"},
                                         CoverageCase{"ASensorThatIsUnreadableForAWhile",
                                                      {{"BLIND_FROM_MS", "300"},
                                                       {"BLIND_MS", "850"},
                                                       {"FAIL_CODE", "999"},
                                                       {"NO_COUNTER", "1"}},
                                                      "sleep 1.5",
                                                      "Unknown Error (NVML code 999)"}),
                         [](const auto& test) { return test.param.name; });

TEST(EnergyCoverage, OneUnknownErrorIsAGap) {
  const CommandOutput output =
      run(metered({"--strict", "--method", "nvml", "--interval", "10ms"}, "sleep 1.5"),
          {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY},
           {"FAKE_NVML_BLIND_FROM_MS", "500"},
           {"FAKE_NVML_BLIND_MS", "30"},
           {"FAKE_NVML_FAIL_CODE", "999"}});
  EXPECT_EQ(output.status.code, 0) << output.standard_error;
  EXPECT_EQ(values(output.standard_error).at("energy_quality"), "measured");
}

TEST(EnergyCoverage, AProgramThatIsOverBeforeASensorMovesHasNoEnergy) {
  const TemporaryDirectory tree;
  tree.write("cray/pm_counters/power", "650 W 1700000000000000 us");
  tree.write("cray/pm_counters/energy", "123456 J 1700000000000000 us");
  ProcessSpec spec;
  spec.arguments = {BENCH_ENERGY_PROGRAM, "--method", "pm_counters", "--sysfs-root",
                    tree.path().string(), "--",       "true"};
  const auto found = values(run(spec).standard_error);
  EXPECT_EQ(found.count("energy_wh"), 0U);
  EXPECT_EQ(found.at("energy_quality"), "none");
}

}  // namespace
}  // namespace bench::energy
