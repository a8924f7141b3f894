// What is exported of a run is the same in every time zone.
#include "bench_program.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;

/// Of each file below, or of the file itself.
std::map<std::string, std::string> written_in(const fs::path& path) {
  if (fs::is_regular_file(path))
    return {{"", read_file(path)}};
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(path).string()] = read_file(entry.path());
  return files;
}

/// A run that has begun in UTC.
class TimeZones : public testing::Test {
 protected:
  void SetUp() override { here_.run("file.yaml", small_sweep(), {}, 0, {{"TZ", "UTC0"}}); }
  void expect_equal_exports(const std::string& name) const {
    for (const char* format : {"ro-crate", "openmetrics", "influx", "junit", "summary"}) {
      std::vector<std::map<std::string, std::string>> exported;
      for (const char* zone : {"UTC0", "JST-9"}) {
        const std::string output = name + format + zone;
        const auto result =
            here_.bench({"export", "runs", "-f", format, "--output", output}, {{"TZ", zone}});
        EXPECT_EQ(result.status.code, 0) << result.standard_error;
        exported.push_back(written_in(here_.path() / output));
      }
      EXPECT_EQ(exported[0], exported[1]) << format;
    }
  }

  Playground here_;
};

TEST_F(TimeZones, DoNotChangeWhatIsExported) {
  expect_equal_exports("new");
  // A run of an older version has recorded the local time of its machine alone.
  SQLite::Database((here_.path() / "runs/000000/workspace.db").string(), SQLite::OPEN_READWRITE)
      .exec("DELETE FROM fact WHERE name = 'started_unix_s'");
  expect_equal_exports("old");
}

/// The times that MLflow shows; the ids of its runs are random.
std::multiset<std::string> start_times(const fs::path& directory) {
  std::multiset<std::string> times;
  for (const auto& [path, text] : written_in(directory))
    for (const std::string& line : split(text, "\n"))
      if (path.ends_with("meta.yaml") && line.starts_with("start_time:"))
        times.insert(line);
  return times;
}

TEST_F(TimeZones, DoNotChangeWhenARunOfMlflowBegan) {
  for (const char* zone : {"UTC0", "JST-9"})
    here_.bench({"mlflow", "runs", "--directory", zone}, {{"TZ", zone}});
  EXPECT_EQ(start_times(here_.path() / "UTC0").size(), 7U);  // six workpackages and the run
  EXPECT_EQ(start_times(here_.path() / "UTC0"), start_times(here_.path() / "JST-9"));
}

}  // namespace
}  // namespace bench::end_to_end
