// What `cmake --install` leaves works without the sources and the build directory.
#include "bench_program.hpp"
#include "support/patience.hpp"
#include "support/report_library.hpp"
#include "support/source_directory.hpp"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>

namespace bench::end_to_end {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class InstallTest : public testing::Test {
 protected:
  InstallTest() {
    const CommandOutput outcome =
        run_command({.arguments = {CMAKE_PROGRAM, "--install", BUILD_DIRECTORY, "--prefix",
                                   (here_.path() / "prefix").string()}},
                    support::far_too_long_s);
    EXPECT_EQ(outcome.status.code, 0) << outcome.standard_error;
    // An installation can be moved.
    fs::rename(here_.path() / "prefix", moved_);
  }

  CommandOutput run(std::vector<std::string> arguments) const {
    return run_command({.arguments = std::move(arguments), .directory = here_.path()},
                       support::far_too_long_s);
  }

  Playground here_;
  fs::path moved_ = here_.path() / "moved";
};

TEST_F(InstallTest, TheProgramFindsAllThatItNeeds) {
  here_.write("batch.yaml", R"(name: b
outpath: runs
step: {name: s, batch: true, energy: {interval: 20ms}, do: echo done}
)");
  const std::string bench = (moved_ / "bin/bench").string();
  EXPECT_THAT(run({bench, "platforms"}).standard_output, HasSubstr("JUPITER"));
  EXPECT_THAT(run({bench, "references"}).standard_output, HasSubstr("d3.7_ap1"));
  EXPECT_TRUE(fs::exists(moved_ / "share/bench/report/serve.js"));
  EXPECT_FALSE(fs::exists(moved_ / "share/bench/references/source"));
  const CommandOutput outcome = run({bench, "run", "batch.yaml"});
  EXPECT_EQ(outcome.status.code, 0) << outcome.standard_error;
  EXPECT_EQ(here_.read("runs/000000/000000_s/work/stdout"), "done\n");
  EXPECT_TRUE(here_.has("runs/000000/000000_s/work/energy.txt"));
  if (support::has_report_library(BUILD_DIRECTORY)) {
    const CommandOutput report = run({bench, "report", "runs"});
    EXPECT_EQ(report.status.code, 0) << report.standard_error;
    EXPECT_TRUE(fs::exists(moved_ / "share/bench/report/THIRD_PARTY_LICENSES"));
  }

  // The pages for a browser are named if they are there.
  const fs::path page = moved_ / "share/doc/bench/html/index.html";
  fs::remove_all(page.parent_path());
  EXPECT_THAT(run({bench, "help"}).standard_output, testing::Not(HasSubstr("index.html")));
  here_.write(page.lexically_relative(here_.path()).string(), "pages");
  EXPECT_THAT(run({bench, "help"}).standard_output, HasSubstr("file://" + page.string() + "\n"));

  // The header of regions needs nothing else.
  here_.write("main.cpp", R"(#include <bench/energy/regions/region.hpp>
int main() { bench::energy::Region region("evaluation"); }
)");
  const CommandOutput compiled =
      run({CXX_COMPILER, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I",
           (moved_ / "include").string(), "main.cpp", "-o", "program"});
  EXPECT_EQ(compiled.status.code, 0) << compiled.standard_error;
  EXPECT_EQ(run({"./program"}).status.code, 0);
}

/// Archives and Debian packages are made of one component.
TEST_F(InstallTest, APackageHasAllButTheStepPrograms) {
  for (const char* file :
       {"share/man/man1/bench.1", "share/man/man1/bench-run.1", "share/man/man1/bench-energy.1",
        "share/zsh/site-functions/_bench", "share/bash-completion/completions/bench",
        "share/fish/vendor_completions.d/bench.fish"})
    EXPECT_GT(fs::file_size(moved_ / file), 100U) << file;
  const fs::path package = here_.path() / "package";
  const CommandOutput outcome = run({CMAKE_PROGRAM, "--install", BUILD_DIRECTORY, "--component",
                                     "bench", "--prefix", package.string()});
  EXPECT_EQ(outcome.status.code, 0) << outcome.standard_error;
  for (const auto& entry : fs::recursive_directory_iterator(moved_)) {
    const fs::path file = entry.path().lexically_relative(moved_);
    EXPECT_TRUE(file.string().starts_with("libexec") || fs::exists(package / file)) << file;
  }
}

TEST_F(InstallTest, ProgramsDoNotNameTheDirectoryOfTheSources) {
#ifndef NDEBUG
  GTEST_SKIP() << "debug information and assertions name their files";
#endif
  const std::string sources = support::source_directory().string() + "/";
  for (const char* folder : {"bin", "libexec/bench/steps"}) {
    std::error_code absent;
    for (const auto& program : fs::directory_iterator(moved_ / folder, absent))
      EXPECT_EQ(read_file(program.path()).find(sources), std::string::npos) << program.path();
  }
}

}  // namespace
}  // namespace bench::end_to_end
