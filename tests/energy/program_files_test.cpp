// The real bench-energy where the file of its samples does not come: a pipe that nobody reads.
#include "energy/fixtures.hpp"
#include "energy/program_fixture.hpp"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>

namespace bench::energy {
namespace {

using testing::HasSubstr;

/// A meter in the background, whose program ends by 5 when it gets SIGUSR1; then `script`, where $m
/// is the meter, and its exit code.
CommandOutput run_beside(const std::filesystem::path& directory, const std::string& script) {
  EXPECT_EQ(::mkfifo((directory / "power.csv").c_str(), 0600), 0);
  const std::string program =
      R"(trap "" TERM; trap "echo got it; exit 5" USR1; touch started; while :; do sleep 0.02; done)";
  ProcessSpec spec;
  spec.directory = directory;
  spec.arguments = {"sh", "-c",
                    std::string(BENCH_ENERGY_PROGRAM) +
                        " --method mock:constant=100W --interval 10ms --out . -- sh -c '" +
                        program + "' & m=$!; while [ ! -e started ]; do sleep 0.02; done; " +
                        "kill -USR1 $m; " + script + "; wait $m; echo $?"};
  return run(spec);
}

TEST(EnergyFiles, ThatHangDoNotHoldUpSignals) {
  const TemporaryDirectory directory;
  // The reader comes later than the signal.
  const CommandOutput output = run_beside(directory.path(), "sleep 0.5; cat power.csv > samples");
  EXPECT_EQ(output.standard_output, "got it\n5\n");
  EXPECT_THAT(read_file(directory.path() / "energy.txt"), HasSubstr("energy_quality=measured"));
}

TEST(EnergyFiles, ThatHangAtTheEndAreGivenUpForASignal) {
  const TemporaryDirectory directory;
  const CommandOutput output =
      run_beside(directory.path(), "while kill -TERM $m; do sleep 0.1; done 2>/dev/null");
  EXPECT_EQ(output.standard_output, "got it\n5\n");
  EXPECT_THAT(output.standard_error, HasSubstr("energy_quality="));
}

}  // namespace
}  // namespace bench::energy
