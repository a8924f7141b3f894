#include "energy/fixtures.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/energy/program/meter_directory.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;

struct NameCase {
  std::string name;
  std::string file;
  std::optional<std::string> suffix;
};
class SuffixOfTest : public testing::TestWithParam<NameCase> {};

TEST_P(SuffixOfTest, IsBetweenTheDots) {
  EXPECT_EQ(suffix_of(GetParam().file, "power", ".csv"), GetParam().suffix);
}

INSTANTIATE_TEST_SUITE_P(Energy, SuffixOfTest,
                         testing::Values(NameCase{"None", "power.csv", ""},
                                         NameCase{"Host", "power.n1.csv", "n1"},
                                         NameCase{"Dots", "power.r.0.csv", "r.0"},
                                         NameCase{"WithoutADot", "powerful.csv", std::nullopt},
                                         NameCase{"OnlyDots", "power..csv", std::nullopt},
                                         NameCase{"TooShort", "power.cs", std::nullopt}),
                         [](const auto& test) { return test.param.name; });

constexpr const char* header = "time_s,unix_time_s,a_w";

struct DirectoryCase {
  std::string name;
  std::vector<std::string> files;
  std::vector<std::string> summaries;
  std::vector<std::string> unfinished;
};
class MeterDirectoryTest : public testing::TestWithParam<DirectoryCase> {};

std::vector<std::string> names_of(const std::vector<std::filesystem::path>& files) {
  std::vector<std::string> names;
  for (const std::filesystem::path& file : files)
    names.push_back(file.filename().string());
  return names;
}

TEST_P(MeterDirectoryTest, HasASummaryOfEachMeterThatEnded) {
  const TemporaryDirectory directory;
  for (const std::string& file : GetParam().files)
    directory.write(file, header);
  const MeterDirectory found = meter_directory(directory.path());
  EXPECT_EQ(names_of(found.summaries), GetParam().summaries);
  EXPECT_EQ(names_of(found.unfinished), GetParam().unfinished);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, MeterDirectoryTest,
    testing::Values(
        DirectoryCase{"Empty", {}, {}, {}},
        DirectoryCase{"OneMeter", {"energy.txt", "power.csv"}, {"energy.txt"}, {}},
        DirectoryCase{"OnlyHdf5", {"energy.txt", "energy.h5"}, {"energy.txt"}, {}},
        DirectoryCase{"Killed", {"power.csv", "unfinished.jsonl"}, {}, {"power.csv"}},
        DirectoryCase{"KilledBeforeItsSamples", {"unfinished.jsonl"}, {}, {"unfinished.jsonl"}},
        DirectoryCase{"OneOfTwoKilled",
                      {"energy.n1.txt", "power.n1.csv", "power.n2.csv"},
                      {"energy.n1.txt"},
                      {"power.n2.csv"}},
        DirectoryCase{
            "Combined", {"energy.txt", "energy.n1.txt", "power.n1.csv"}, {"energy.n1.txt"}, {}}),
    [](const auto& test) { return test.param.name; });

TEST(MeterDirectory, ATableOfAProgramIsNoLog) {
  const TemporaryDirectory directory;
  directory.write("power.model.csv", "watts,hours");
  EXPECT_TRUE(meter_directory(directory.path()).unfinished.empty());
}

TEST(MeterDirectory, OneThatDoesNotExistIsAnError) {
  EXPECT_EQ(message_of([] { meter_directory("/nonexistent"); }),
            "cannot read /nonexistent: No such file or directory");
}

TEST(MeterDirectory, OnlyFilesOfMetersAreRemoved) {
  const TemporaryDirectory directory;
  for (const char* file : {"energy.txt", "energy.n1.txt", "energy.n1.csv", "regions.n1.log",
                           "power.n1.csv", "unfinished.n2.jsonl"})
    directory.write(file, header);
  directory.write("energy.model.txt", "of a program");
  directory.write("power.model.csv", "watts,hours");
  remove_meter_files(directory.path());
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    left.push_back(entry.path().filename().string());
  EXPECT_THAT(left, testing::UnorderedElementsAre("energy.model.txt", "power.model.csv"));
}

}  // namespace
}  // namespace bench::energy
