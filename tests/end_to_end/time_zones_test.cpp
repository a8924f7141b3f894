// What is exported of a run is the same in every time zone.
#include "bench_program.hpp"
#include "support/case_name.hpp"

#include <filesystem>
#include <map>
#include <ostream>
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

struct Exporter {
  std::string name;
  std::vector<std::string> arguments;  ///< Followed by the file or directory to write.
};
void PrintTo(const Exporter& one, std::ostream* out) {
  *out << one.name;
}

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

class TimeZones : public testing::TestWithParam<Exporter> {
 protected:
  std::map<std::string, std::string> exported_in(const std::string& zone,
                                                 const std::string& output) const {
    std::vector<std::string> arguments = GetParam().arguments;
    arguments.push_back(output);
    const auto result = here_.bench(arguments, {{"TZ", zone}});
    EXPECT_EQ(result.status.code, 0) << result.standard_error;
    return written_in(here_.path() / output);
  }

  Playground here_;
};

TEST_P(TimeZones, DoNotChangeWhatIsExported) {
  here_.write("file.yaml", small_sweep());
  ASSERT_EQ(here_.bench({"run", "file.yaml"}, {{"TZ", "UTC0"}}).status.code, 0);
  EXPECT_EQ(exported_in("UTC0", "a"), exported_in("JST-9", "b"));
}

/// Such a run has recorded the local time of its machine alone.
TEST_P(TimeZones, DoNotChangeWhatIsExportedOfAnOldRun) {
  here_.write("file.yaml", small_sweep());
  ASSERT_EQ(here_.bench({"run", "file.yaml"}, {{"TZ", "UTC0"}}).status.code, 0);
  SQLite::Database((here_.path() / "runs/000000/workspace.db").string(), SQLite::OPEN_READWRITE)
      .exec("DELETE FROM fact WHERE name = 'started_unix_s'");
  EXPECT_EQ(exported_in("UTC0", "a"), exported_in("JST-9", "b"));
}

INSTANTIATE_TEST_SUITE_P(
    Export, TimeZones,
    testing::Values(Exporter{"crate", {"export", "runs", "--output"}},
                    Exporter{"openmetrics", {"export", "runs", "-f", "openmetrics", "--output"}},
                    Exporter{"influx", {"export", "runs", "-f", "influx", "--output"}},
                    Exporter{"junit", {"export", "runs", "-f", "junit", "--output"}},
                    Exporter{"summary", {"export", "runs", "-f", "summary", "--output"}}),
    support::case_name);

/// The times that MLflow shows; the ids of its runs are random.
std::multiset<std::string> start_times(const fs::path& directory) {
  std::multiset<std::string> times;
  for (const auto& [path, text] : written_in(directory))
    for (const std::string& line : split(text, "\n"))
      if (path.ends_with("meta.yaml") && line.starts_with("start_time:"))
        times.insert(line);
  return times;
}

TEST(TimeZonesOfMlflow, DoNotChangeWhenARunBegan) {
  const Playground here;
  here.write("file.yaml", small_sweep());
  ASSERT_EQ(here.bench({"run", "file.yaml"}, {{"TZ", "UTC0"}}).status.code, 0);
  for (const char* zone : {"UTC0", "JST-9"})
    here.bench({"mlflow", "runs", "--directory", zone}, {{"TZ", zone}});
  EXPECT_EQ(start_times(here.path() / "UTC0").size(), 7U);  // six workpackages and the run
  EXPECT_EQ(start_times(here.path() / "UTC0"), start_times(here.path() / "JST-9"));
}

}  // namespace
}  // namespace bench::end_to_end
