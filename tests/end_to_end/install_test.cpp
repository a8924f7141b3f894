// What `cmake --install` leaves works without the sources and the build directory.
#include "bench_program.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/process.hpp>

namespace bench::end_to_end {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class InstallTest : public testing::Test {
 protected:
  static constexpr double far_too_long_s = 300;

  InstallTest() {
    const CommandOutput outcome =
        run_command({.arguments = {CMAKE_PROGRAM, "--install", BUILD_DIRECTORY, "--prefix",
                                   (here_.path() / "prefix").string()}},
                    far_too_long_s);
    EXPECT_EQ(outcome.status.code, 0) << outcome.standard_error;
    // An installation can be moved.
    fs::rename(here_.path() / "prefix", moved_);
  }

  CommandOutput run(std::vector<std::string> arguments) const {
    return run_command({.arguments = std::move(arguments), .directory = here_.path()},
                       far_too_long_s);
  }

  Playground here_;
  fs::path moved_ = here_.path() / "moved";
};

TEST_F(InstallTest, TheProgramFindsItsPlatformsItsTemplatesAndItsMeter) {
  here_.write("batch.yaml", R"(name: b
outpath: runs
step: {name: s, batch: true, energy: {interval: 20ms}, do: echo done}
)");
  const std::string bench = (moved_ / "bin/bench").string();
  EXPECT_THAT(run({bench, "platforms"}).standard_output, HasSubstr("JUPITER"));
  EXPECT_THAT(run({bench, "references"}).standard_output, HasSubstr("d3.7_ap1"));
  EXPECT_TRUE(fs::exists(moved_ / "share/bench/serve/page.js"));
  EXPECT_FALSE(fs::exists(moved_ / "share/bench/references/source"));
  const CommandOutput outcome = run({bench, "run", "batch.yaml"});
  EXPECT_EQ(outcome.status.code, 0) << outcome.standard_error;
  EXPECT_EQ(here_.read("runs/000000/000000_s/work/stdout"), "done\n");
  EXPECT_TRUE(here_.has("runs/000000/000000_s/work/energy.txt"));
}

TEST_F(InstallTest, TheHeaderOfRegionsNeedsNothingElse) {
  here_.write("main.cpp", R"(#include <bench/energy/regions/region.hpp>
int main() { bench::energy::Region region("evaluation"); }
)");
  const CommandOutput outcome =
      run({CXX_COMPILER, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I",
           (moved_ / "include").string(), "main.cpp", "-o", "program"});
  EXPECT_EQ(outcome.status.code, 0) << outcome.standard_error;
  EXPECT_EQ(run({"./program"}).status.code, 0);
}

}  // namespace
}  // namespace bench::end_to_end
