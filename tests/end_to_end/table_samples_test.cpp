#include "bench_program.hpp"
#include "support/source_directory.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include <bench/base/files.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;

const fs::path samples = support::source_directory() / "tests/data/tables";

/// JUBE's byte for byte, but for quotes in csv and `n/a` in tables for people.
TEST(TableSamples, AreDrawnAsJubeDrawsThem) {
  const Playground here;
  here.run("samples.yaml", read_file(samples / "samples.yaml"), {"--result"});
  int compared = 0;
  for (const auto& entry : fs::directory_iterator(samples))
    if (entry.path().extension() == ".expected") {
      const std::string name = entry.path().stem().string();
      EXPECT_EQ(here.read("runs/000000/result/" + name + ".dat"), read_file(entry.path())) << name;
      ++compared;
    }
  EXPECT_EQ(compared, 7);
}

}  // namespace
}  // namespace bench::end_to_end
