// The published numbers that come with bench.
#include "support/environment_variable.hpp"
#include "support/patience.hpp"
#include "support/source_directory.hpp"
#include "support/temp_directory.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/platform.hpp>
#include <bench/results/comparison.hpp>
#include <bench/results/reference.hpp>

namespace bench::results {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;

const fs::path shipped = support::source_directory() / "src/results/references";

std::map<std::string, std::string> csv_files(const fs::path& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().extension() == ".csv")
      files[entry.path().filename().string()] = read_file(entry.path());
  return files;
}

std::vector<Entry> entries() {
  std::vector<Entry> all;
  for (const Reference& reference : find_references(shipped.string()))
    all.insert(all.end(), reference.entries.begin(), reference.entries.end());
  return all;
}

/// The number in a cell of a table.
const Entry& at(const std::vector<Entry>& all, const std::string& source, const std::string& table,
                const std::string& cell) {
  const auto found = std::ranges::find_if(all, [&](const Entry& entry) {
    return entry.text(Field::source) == source && entry.text(Field::table) == table &&
           entry.text(Field::cell) == cell;
  });
  if (found == all.end())
    throw std::runtime_error("no number in " + table + ", " + cell);
  return *found;
}

TEST(ShippedReferences, AreWhatTheScriptMakesOfTheSource) {
  const support::TempDirectory made;
  const CommandOutput script = run_command(
      {.arguments = {"python3", (support::source_directory() / "scripts/make-references").string(),
                     made.path().string()}},
      support::far_too_long_s);
  EXPECT_EQ(script.status.code, 0) << script.standard_error;
  const auto expected = csv_files(made.path());
  const auto committed = csv_files(shipped);
  EXPECT_THAT(expected, Not(IsEmpty()));
  for (const auto& [name, text] : expected)
    EXPECT_TRUE(committed.contains(name) && committed.at(name) == text)
        << name << " is not what scripts/make-references makes";
  EXPECT_EQ(expected.size(), committed.size());
}

TEST(ShippedReferences, NameSourceTableAndCellOfEachNumberOnce) {
  std::set<std::tuple<std::string, std::string, std::string>> cells;
  for (const Entry& entry : entries()) {
    for (const Field field : {Field::source, Field::table, Field::cell, Field::workload,
                              Field::phase, Field::metric, Field::as_printed})
      EXPECT_NE(entry.text(field), "") << name_of(field);
    EXPECT_TRUE(
        cells.emplace(entry.text(Field::source), entry.text(Field::table), entry.text(Field::cell))
            .second)
        << entry.text(Field::table) << ", " << entry.text(Field::cell);
    EXPECT_TRUE(entry.value || !entry.text(Field::note).empty())
        << entry.text(Field::cell) << " is not used without a reason";
  }
}

TEST(ShippedReferences, NamePlatformsThatExist) {
  const support::EnvironmentVariable data("BENCH_DATA", std::nullopt);
  const auto names = machine::platform_names();
  for (const Entry& entry : entries())
    EXPECT_THAT(names, Contains(entry.text(Field::platform_tag))
                           .Times(entry.text(Field::platform_tag).empty() ? 0 : 1));
}

/// A misspelt one would never be compared with anything.
TEST(ShippedReferences, HaveEachMetricThatABenchmarkNames) {
  std::set<std::string> known{"none"};
  for (const Field field : condition_fields())
    known.emplace(name_of(field));
  for (const Entry& entry : entries())
    known.insert(entry.text(Field::metric));
  static const Regex claim(R"(compare: "?(\w+))");
  int found = 0;
  for (const auto& file : fs::directory_iterator(support::source_directory() / "benchmarks")) {
    if (file.path().extension() != ".yaml")
      continue;
    for (const std::string& metric : claim.find_all(read_file(file.path()))) {
      EXPECT_THAT(known, Contains(metric)) << file.path();
      ++found;
    }
  }
  EXPECT_GT(found, 20);
}

/// A comment behind a column says how ours differs. A loss of generated samples is not that of
/// D3.7's data.
TEST(ShippedReferences, AreNotComparedWithWhatABenchmarkSaysDiffers) {
  static const Regex commented(R"(compare: (?!none)\w+.*\}\s+#)");
  static const Regex loss(R"(compare: final_\w+_loss)");
  static const Regex needs_files(R"(tag: "?io\b)");
  for (const auto& file : fs::directory_iterator(support::source_directory() / "benchmarks")) {
    if (file.path().extension() != ".yaml")
      continue;
    for (const std::string& line : split(read_file(file.path()), "\n")) {
      EXPECT_FALSE(commented.search(line)) << file.path() << ": " << line;
      EXPECT_TRUE(!loss.search(line) || needs_files.search(line)) << file.path() << ": " << line;
    }
  }
}

struct Erratum {
  std::string table;
  std::string cell;
  std::string as_printed;
  std::string value;  ///< Empty: not to be used.
  std::string batch;
  std::string devices;
  std::string metric;
};

/// One cell for each kind of correction.
TEST(ShippedReferences, HaveTheErrataOfD37Applied) {
  const Erratum errata[] = {
      {"Table 18", "total_runtime, column 4", "11991.1", "1199.11", "512", "1", "total_runtime"},
      {"Table 21", "training_time, column 9", "16429.56", "1429.56", "512", "1", "training_time"},
      {"Table 39", "gpu_power_max, column 1", "443.79", "", "32", "1", "gpu_power_max"},
      {"Table 28", "training_time, column 5", "179.98", "179.98", "32", "1", "training_time"},
      {"Table 43", "gpu_energy, column 5", "110.72", "110.72", "750", "16", "gpu_energy"},
      {"Table 44", "node_energy, column 1", "1,041.18", "1041.18", "750", "1", "node_energy"},
  };
  const auto all = entries();
  for (const Erratum& one : errata) {
    const Entry& entry = at(all, "D3.7", one.table, one.cell);
    EXPECT_EQ(entry.text(Field::as_printed), one.as_printed) << one.cell;
    EXPECT_EQ(entry.text(Field::value), one.value) << one.cell;
    EXPECT_EQ(entry.text(Field::batch), one.batch) << one.cell;
    EXPECT_EQ(entry.text(Field::devices), one.devices) << one.cell;
    EXPECT_EQ(entry.text(Field::metric), one.metric) << one.cell;
    EXPECT_NE(entry.text(Field::note), "") << one.cell;
  }
}

TEST(ShippedReferences, CallOneMetricByOneName) {
  const auto all = entries();
  EXPECT_EQ(at(all, "D2.3", "Table 1", "epoch_time_mean").text(Field::metric), "avg_epoch_time");
  const Entry& open = at(all, "MLPerf HPC", "Table 5", "staging_time, ABCI-2048 (open)");
  EXPECT_EQ(open.text(Field::platform), "ABCI");
  EXPECT_EQ(open.text(Field::devices), "2048");
  EXPECT_EQ(open.text(Field::config), "open");
}

}  // namespace
}  // namespace bench::results
