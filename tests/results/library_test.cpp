#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/results/library.hpp>
#include <bench/results/reference.hpp>

namespace bench::results {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;

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
