#include "energy/fixtures.hpp"

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/program/combine.hpp>

namespace bench::energy {
namespace {

TEST(CombineSummaryFiles, ReadsAndWritesFiles) {
  const TemporaryDirectory directory;
  directory.write("a.txt", "energy_wh=1\nenergy_quality=measured");
  directory.write("b.txt", "energy_wh=2\nenergy_quality=measured");
  const auto output = directory.path() / "energy.txt";
  combine_summary_files(
      std::vector<std::filesystem::path>{directory.path() / "a.txt", directory.path() / "b.txt"},
      output);
  EXPECT_EQ(read_file(output), "energy_wh=3\nenergy_quality=measured\n");
}

TEST(CombineSummaryFiles, ADirectoryStandsForItsMetersAtTheSameTime) {
  const TemporaryDirectory directory;
  directory.write("one/energy.n1.txt", "energy_wh=1\nduration_s=10");
  directory.write("one/energy.n2.txt", "energy_wh=2\nduration_s=11");
  directory.write("two/energy.txt", "energy_wh=4\nduration_s=5");
  const auto output = directory.path() / "energy.txt";
  combine_summary_files(std::vector{directory.path() / "one", directory.path() / "two"}, output,
                        Course::in_sequence);
  EXPECT_EQ(read_file(output), "energy_wh=7\nduration_s=16\n");
}

TEST(CombineSummaryFiles, WithAMeterThatWroteNoResultThereAreNoFigures) {
  const TemporaryDirectory directory;
  directory.write("one/energy.txt", "energy_wh=1\nduration_s=10\nenergy_quality=measured");
  directory.write("two/power.csv", "time_s,unix_time_s,mock:constant_w");
  const auto output = directory.path() / "energy.txt";
  combine_summary_files(std::vector{directory.path() / "one", directory.path() / "two"}, output,
                        Course::in_sequence);
  EXPECT_EQ(read_file(output),
            "energy_quality=partial\nenergy_absent=the meter of " +
                (directory.path() / "two/power.csv").string() +
                " wrote no result (if it was killed, `bench-energy recover` makes one from its "
                "samples, and `bench-energy combine` the sum)\n");
}

/// The meter of the first rank has read that of the node, in which the GPU of the second is.
TEST(CombineSummaryFiles, WhatAMeterOfTheNodeHasMeasuredIsNotAdded) {
  const TemporaryDirectory directory;
  const std::string rest = "\nenergy_devices_wh=2\nduration_s=10\nenergy_quality=measured\n";
  directory.write("energy.n1.0.txt",
                  "energy_wh=9" + rest + "energy_region_a_wh=3\nenergy_nodes=1\nenergy_gap_s=0.1");
  directory.write("energy.n1.1.txt",
                  "energy_wh=2" + rest + "energy_region_a_wh=1\nenergy_nodes=0\nenergy_gap_s=0.1");
  directory.write("energy.n2.2.txt", "energy_wh=2" + rest + "energy_nodes=0\nenergy_gap_s=0.1");
  const auto output = directory.path() / "energy.txt";
  combine_summary_files(std::vector{directory.path()}, output);
  EXPECT_EQ(read_file(output),
            "energy_wh=11\nenergy_devices_wh=6\nduration_s=10\nenergy_quality=measured\n"
            "energy_region_a_wh=3\n");
}

/// Where the second meter has its first sample, and whether the two still count as one after the
/// other: the first ran from 100 s to 110 s.
struct Overlap {
  std::string name;
  std::string row;
  bool is_sum;
};
void PrintTo(const Overlap& o, std::ostream* out) {
  *out << o.name;
}
class OverlapTest : public testing::TestWithParam<Overlap> {};

TEST_P(OverlapTest, HasNoSum) {
  const TemporaryDirectory directory;
  const std::string header = "time_s,unix_time_s,mock:constant_w\n";
  directory.write("one/energy.txt", "energy_wh=1\nduration_s=10\nenergy_quality=measured");
  directory.write("one/power.csv", header + "0.5,100.5,40\n");
  directory.write("two/energy.n1.txt", "energy_wh=2\nduration_s=5\nenergy_quality=measured");
  directory.write("two/power.n1.csv", header + GetParam().row);
  const auto output = directory.path() / "energy.txt";
  const auto combine = [&](Course course) {
    combine_summary_files(std::vector{directory.path() / "one", directory.path() / "two"}, output,
                          course);
    return read_file(output);
  };
  const std::string one = (directory.path() / "one").string();
  const std::string two = (directory.path() / "two").string();
  EXPECT_EQ(combine(Course::in_sequence),
            GetParam().is_sum ? "energy_wh=3\nduration_s=15\nenergy_quality=measured\n"
                              : "energy_quality=partial\nenergy_absent=" + one + " and " + two +
                                    " ran at the same time, so their sum may count a node twice\n");
  EXPECT_EQ(combine(Course::at_once), "energy_wh=3\nduration_s=10\nenergy_quality=measured\n");
}

INSTANTIATE_TEST_SUITE_P(Energy, OverlapTest,
                         testing::Values(Overlap{"AtTheSameTime", "1,102,40\n", false},
                                         Overlap{"Before", "1,98,40\n", false},
                                         Overlap{"ByTheClocksOfTwoNodes", "1,110.5,40\n", true},
                                         Overlap{"OneAfterTheOther", "1,112,40\n", true},
                                         Overlap{"WithoutASample", "", true}),
                         [](const auto& test) { return test.param.name; });

/// Operands that would make a wrong sum, and what is said of them; `DIR` is where they are.
struct RefusedOperands {
  std::string name;
  std::vector<std::string> operands;
  std::string message;
};
void PrintTo(const RefusedOperands& c, std::ostream* out) {
  *out << c.name;
}
class RefusedOperandsTest : public testing::TestWithParam<RefusedOperands> {};

TEST_P(RefusedOperandsTest, AreNamedAndNothingIsWritten) {
  const TemporaryDirectory directory;
  directory.write("a/energy.txt", "energy_wh=1");
  directory.write("empty/model.txt", "of a program");
  std::filesystem::create_directory_symlink("a", directory.path() / "link");
  std::vector<std::filesystem::path> operands;
  for (const std::string& operand : GetParam().operands)
    operands.push_back(directory.path() / operand);
  const auto output = directory.path() / "energy.txt";
  EXPECT_EQ(message_of([&] { combine_summary_files(operands, output, Course::in_sequence); }),
            replace_all(GetParam().message, "DIR",
                        std::filesystem::canonical(directory.path()).string()));
  EXPECT_FALSE(std::filesystem::exists(output));
}

INSTANTIATE_TEST_SUITE_P(
    Energy, RefusedOperandsTest,
    testing::Values(RefusedOperands{"NoMeter", {"empty"}, "no energy.txt in DIR/empty"},
                    RefusedOperands{
                        "NoMeterInOne", {"a/", "empty/"}, "no energy.txt in DIR/empty/"},
                    RefusedOperands{"ADirectoryTwice", {"a", "a/"}, "DIR/a/ is named twice"},
                    RefusedOperands{"ALink", {"a", "link"}, "DIR/link is named twice"},
                    RefusedOperands{"AFileTwice",
                                    {"a/energy.txt", "a/../a/energy.txt"},
                                    "DIR/a/../a/energy.txt is named twice"},
                    RefusedOperands{"AFileAndItsDirectory",
                                    {"a/energy.txt", "link"},
                                    "DIR/a/energy.txt is named, and so is its directory"}),
    [](const auto& test) { return test.param.name; });

TEST(CombineSummaryFiles, ALineWithoutItsNumberHasAPlaceAndAHint) {
  const TemporaryDirectory directory;
  directory.write("a.txt", "energy_source=mock\nenergy_wh=abc");
  const std::vector files{directory.path() / "a.txt"};
  try {
    combine_summary_files(files, directory.path() / "energy.txt");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "'abc' is not a number");
    EXPECT_EQ(error.hint(),
              "bench-energy writes one there; leave out a file that was changed or cut off");
    EXPECT_EQ(error.place(), (Place{files[0].string(), 2, 11}));
  }
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "energy.txt"));
}

TEST(CombineSummaryFiles, NeverOverwritesWhatItReads) {
  const TemporaryDirectory directory;
  directory.write("a.txt", "energy_wh=1");
  const std::vector files{directory.path() / "a.txt"};
  EXPECT_THROW(combine_summary_files(files, directory.path() / "./a.txt"), Error);
  EXPECT_EQ(read_file(files[0]), "energy_wh=1\n");
}

TEST(CombineSummaryFiles, RefusesWhatIsNone) {
  const TemporaryDirectory directory;
  directory.write("a.txt", "channel,energy_wh");
  const std::vector<std::filesystem::path> files{directory.path() / "a.txt"};
  EXPECT_THROW(combine_summary_files(files, directory.path() / "energy.txt"), Error);
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "energy.txt"));
}

}  // namespace
}  // namespace bench::energy
