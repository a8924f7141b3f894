#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/results/reference.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::StartsWith;

class ReadReference : public testing::Test {
 protected:
  Reference read(const std::string& text) {
    write_file_atomically(file_, text);
    return read_reference(file_);
  }
  /// The message without the directory, and without the source line below it.
  std::string error(const std::string& text) {
    const std::string all = support::error_of([&] { read(text); });
    return replace_all(split(all, "\n").front(), directory_.path().string() + "/", "") +
           (all.find("hint: ") == std::string::npos ? "" : "; " + all.substr(all.find("hint: ")));
  }

  support::TempDirectory directory_;
  std::filesystem::path file_ = directory_.path() / "own.csv";
};

TEST_F(ReadReference, TakesColumnsInAnyOrderAndLeavesOthersEmpty) {
  const Reference own = read("value, metric ,note\n2.5,time,\"a, b\"\n,speed,no use\n");
  EXPECT_EQ(own.name, "own");
  ASSERT_EQ(own.entries.size(), 2U);
  EXPECT_EQ(own.entries[0].value, 2.5);
  EXPECT_EQ(own.entries[0].text(Field::metric), "time");
  EXPECT_EQ(own.entries[0].text(Field::note), "a, b");
  EXPECT_EQ(own.entries[0].text(Field::platform), "");
  EXPECT_EQ(own.entries[1].value, std::nullopt);
}

TEST_F(ReadReference, NamesThePlaceOfAMistake) {
  const std::string head = "metric,value,devices\n";
  EXPECT_EQ(error("metric,value,platfrom\n"),
            "own.csv:1: error: published numbers have no column 'platfrom'; "
            "hint: did you mean 'platform'?");
  EXPECT_EQ(error("metric,value,value\n"), "own.csv:1: error: two columns 'value'");
  EXPECT_EQ(error("metric,unit\n"),
            "own.csv:1: error: there is no column 'value'; "
            "hint: published numbers need at least the columns metric and value");
  EXPECT_EQ(error(""),
            "own.csv:1: error: no published numbers in this file; "
            "hint: its first line must name columns such as metric, unit and value");
  EXPECT_EQ(error(head + "time,1,1\ntime,\"1,5\",1\n"),
            "own.csv:3: error: value '1,5' is not a number; "
            "hint: leave it empty if the number is not to be used");
  EXPECT_THAT(error(head + "time,inf,1\n"), StartsWith("own.csv:2: error: value 'inf' is not"));
  EXPECT_EQ(error(head + "time,1,four\n"),
            "own.csv:2: error: devices must be a whole number of at least 1, not 'four'");
  EXPECT_EQ(error(head + "time,1,0\n"),
            "own.csv:2: error: devices must be a whole number of at least 1, not '0'");
  EXPECT_EQ(error(head + ",1,1\n"), "own.csv:2: error: this number has no metric");
  EXPECT_EQ(error(head + "time,1\n"), "own.csv:2: error: 2 cells where the first line has 3");
}

/// What a table shows can be read again: a user selects rows with `bench references -s csv`.
TEST_F(ReadReference, ReadsWhatTheTableWrites) {
  const std::vector<Reference> before{
      read("metric,value,devices,batch,note,platform\n"
           "time,2.50,4,max,\"a \"\"b\"\", c\",E4\nspeed,,1,32,no use,\n")};
  const std::string text = render(table_of(before), "csv");
  const Reference after = read(text);
  ASSERT_EQ(after.entries.size(), 2U);
  for (const std::size_t row : {0U, 1U}) {
    auto texts = before[0].entries[row].texts;
    texts[static_cast<std::size_t>(Field::value)] = row == 0 ? "2.5" : "";
    EXPECT_EQ(after.entries[row].texts, texts);
    EXPECT_EQ(after.entries[row].value, before[0].entries[row].value);
  }
}

TEST_F(ReadReference, IsListedWithItsSourcesAndWorkloads) {
  const std::vector<Reference> all{
      read("source,workload,metric,value\nA,x,m,1\nB,x,m,2\nA,,m,3\n")};
  EXPECT_EQ(render(list_of(all), "csv"), "name,source,workload,rows\nown,\"A, B\",x,3\n");
}

TEST_F(ReadReference, HasTheMetricsOfTheNumbersThatAreUsed) {
  const std::vector<Reference> all{read("metric,value\nb,1\na,1\nb,2\nc,\n")};
  EXPECT_THAT(metrics_of(all), ElementsAre("b", "a"));
}

/// A site with the references `paper` and `d3.7_ap1`, of one number each.
class Library : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(site_.path() / "references");
    write("references/paper.csv", "metric,value\ntime,1\n");
    write("references/d3.7_ap1.csv", "metric,value\nown,1\n");
    write("references/README.md", "text\n");
  }
  void write(const std::string& name, const std::string& text) {
    write_file_atomically(site_.path() / name, text);
  }
  std::string path(const std::string& name) const { return (site_.path() / name).string(); }
  static std::vector<std::string> metrics_of(const std::string& name) {
    std::vector<std::string> metrics;
    for (const Reference& reference : find_references(name))
      for (const Entry& entry : reference.entries)
        metrics.push_back(entry.text(Field::metric));
    return metrics;
  }

  support::TempDirectory site_;
  support::EnvironmentVariable data_{"BENCH_DATA", site_.path().string()};
  support::EnvironmentVariable home_{"XDG_CONFIG_HOME", site_.path().string() + "/none"};
};

TEST_F(Library, HasTheSitesFilesBesideTheShippedOnes) {
  EXPECT_THAT(reference_names(), Contains("paper"));
  EXPECT_THAT(reference_names(), Contains("mlperf_hpc_deepcam"));
  EXPECT_THAT(metrics_of("d3.7_ap1"), ElementsAre("own"));
}

TEST_F(Library, FindsFilesAndDirectories) {
  EXPECT_THAT(metrics_of("paper"), ElementsAre("time"));
  EXPECT_THAT(metrics_of(path("references/paper.csv")), ElementsAre("time"));
  EXPECT_THAT(metrics_of(path("references")), ElementsAre("own", "time"));
}

TEST_F(Library, AnswersANameThatDoesNotExist) {
  EXPECT_EQ(support::error_of([] { find_references("papper"); }),
            "error: unknown reference 'papper'\nhint: did you mean 'paper'?");
  EXPECT_EQ(support::error_of([] { find_references("something else"); }),
            "error: unknown reference 'something else'\n"
            "hint: `bench references` lists them; your own is the path of a .csv file");
  EXPECT_EQ(support::error_of([&] { find_references(path("none.csv")); }),
            "error: cannot read " + path("none.csv") + ": No such file or directory");
  EXPECT_EQ(support::error_of([&] { find_references(site_.path().string()); }),
            "error: " + site_.path().string() +
                " has no file of published numbers\nhint: its files must end in .csv");
}

}  // namespace

}  // namespace bench::results
