// A run with odd names, failures and a lack of memory in every format: the file, and what the
// programs that people use for it read in it.
#include "mlflow_fixture.hpp"
#include "support/golden.hpp"
#include "support/patience.hpp"
#include "support/report_library.hpp"
#include "support/source_directory.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;

const fs::path formats = support::source_directory() / "tests/data/formats";

class OddRun {
 public:
  OddRun() {
    here.run("odd.yaml", read_file(formats / "odd.yaml"), {"--strict"}, 1);  // some of it fails
  }

  /// Writes the output of a command into a file.
  std::string file_of(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin() + 1, "odd runs");
    const CommandOutput output = here.bench(std::move(arguments));
    EXPECT_EQ(output.status.code, 0) << output.standard_error;
    here.write("text", output.standard_output);
    return "text";
  }

  CommandOutput call(std::vector<std::string> arguments) const {
    return run_command({.arguments = std::move(arguments), .directory = here.path()},
                       support::far_too_long_s);
  }

  /// Expects a reader to find in the file what `NAME.read` says.
  void expect_reading(const std::string& name, const std::string& reader, const std::string& file) {
    constexpr int no_reader = 77;
    const CommandOutput output =
        call({"/usr/bin/python3", (formats / "read.py").string(), reader, file,
              (support::source_directory() / "tests/data/export/ro-crate.schema.json").string()});
    if (output.status.code == no_reader) {
      without_reader_ += output.standard_error;
      return;
    }
    ASSERT_EQ(output.status.code, 0) << output.standard_error;
    support::expect_golden("formats/" + name + ".read", output.standard_output);
  }
  /// At the end of a test: says of which files nothing could be told.
  void skip_without_reader() const {
    if (!without_reader_.empty())
      GTEST_SKIP() << "not installed: " << without_reader_;
  }

  Playground here;

 private:
  std::string without_reader_;
};

TEST(ReadFormats, AreTheFilesThatWereReviewedAndUnderstoodByTheirReaders) {
  OddRun run;
  for (const char* style :
       {"pretty", "aligned", "csv", "json", "jsonl", "markdown", "latex", "html"})
    support::expect_golden(std::string("formats/odd.") + style,
                           run.here.read(run.file_of({"result", "-s", style})));
  for (const char* style : {"csv", "json", "jsonl", "latex", "html"})
    run.expect_reading(style, style, run.file_of({"result", "-s", style}));
  for (const char* format : {"junit", "openmetrics", "influx"})
    run.expect_reading(format, format, run.file_of({"export", "--format", format}));
  run.file_of({"export", "--output", "crate.zip"});
  run.expect_reading("ro-crate", "ro-crate", "crate.zip");
  run.skip_without_reader();
}

TEST(ReadFormats, MarkdownIsUnderstoodByGithub) {
  if (find_program("cmark-gfm").empty())
    GTEST_SKIP() << "needs cmark-gfm";
  OddRun run;
  for (const auto& [name, command] :
       {std::pair<std::string, std::vector<std::string>>{"markdown", {"result", "-s", "markdown"}},
        {"summary", {"export", "--format", "summary"}}}) {
    const CommandOutput page = run.call({"cmark-gfm", "-e", "table", run.file_of(command)});
    ASSERT_EQ(page.status.code, 0) << page.standard_error;
    run.here.write("page", page.standard_output);
    run.expect_reading(name, "markdown", "page");
  }
  run.skip_without_reader();
}

TEST(ReadFormats, ParquetIsUnderstoodByHyparquet) {
  const fs::path modules = fs::path(BUILD_DIRECTORY) / "report_packages/node_modules";
  if (find_program("node").empty() || !fs::exists(modules / "hyparquet"))
    GTEST_SKIP()
        << "npm has not fetched hyparquet: cmake --build build/release --target fetch_vega";
  const OddRun run;
  const CommandOutput read = run.call({"node", (formats / "read_parquet.mjs").string(),
                                       modules.string(), run.file_of({"result", "-s", "parquet"})});
  ASSERT_EQ(read.status.code, 0) << read.standard_error;
  support::expect_golden("formats/parquet.read", read.standard_output);
}

class ReportFormats : public testing::Test {
 protected:
  void SetUp() override {
    if (!support::has_report_library(BUILD_DIRECTORY))
      GTEST_SKIP() << "npm has not fetched Vega: cmake --build build/release --target fetch_vega";
  }
};

TEST_F(ReportFormats, HaveTheDataThatWereReviewed) {
  OddRun run;
  run.file_of({"report", "--output", "report.html"});
  run.expect_reading("report", "report", "report.html");
  run.skip_without_reader();
}

TEST_F(ReportFormats, FiguresAreReadAsSvgAndAsPng) {
  for (const char* program : {"node", "xmllint", "rsvg-convert", "pngcheck"})
    if (find_program(program).empty())
      GTEST_SKIP() << "needs " << program;
  const OddRun run;
  run.file_of({"report", "--figures", "figures"});
  const std::string figure = "figures/raten-sch-n-mehr-gr-e-rate";
  support::expect_golden("formats/figure.svg", run.here.read(figure + ".svg"));
  for (const std::vector<std::string>& reader :
       {std::vector<std::string>{"xmllint", "--noout", figure + ".svg"},
        {"rsvg-convert", "--output", "again.png", figure + ".svg"},
        {"pngcheck", "-q", figure + ".png"}}) {
    const CommandOutput output = run.call(reader);
    EXPECT_TRUE(output.status.success()) << output.standard_output << output.standard_error;
  }
}

/// The server records the same data as the file store.
TEST_F(MlflowTest, FormatsHaveTheDataThatWereReviewed) {
  OddRun run;
  run.file_of({"mlflow", "--directory", "."});
  run.expect_reading("mlflow", "mlflow-files", "mlruns");
  if (std::string(HTTP_LIBRARY).empty())
    GTEST_SKIP() << "bench was built without cpp-httplib";
  serve();
  EXPECT_EQ(
      run.here
          .bench({"mlflow", "odd runs"}, {{"MLFLOW_TRACKING_URI", uri_}, {"no_proxy", "127.0.0.1"}})
          .status.code,
      0);
  run.here.write("state", state());
  run.expect_reading("mlflow", "mlflow-server", "state");
  run.skip_without_reader();
}

}  // namespace
}  // namespace bench::end_to_end
