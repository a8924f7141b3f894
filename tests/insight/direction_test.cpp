#include "insight/metrics.hpp"
#include "model/fixture.hpp"

#include <string>

#include <gtest/gtest.h>

#include <bench/insight/run_comparison.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/numbers/comparison.hpp>

namespace bench::insight {
namespace {

/// What is said of a metric `time` of this unit that has grown.
struct DirectionCase {
  std::string unit;
  std::string word;
  std::string of_pattern = "";  ///< What its pattern says.
  std::string of_column = "";   ///< What its column says.
};

TEST(Direction, IsWhatTheFileSaysOrFollowsFromTheUnit) {
  for (const DirectionCase& one : {DirectionCase{"s", "slower"},
                                   {"it/s", "faster"},
                                   {"Wh", "worse"},
                                   {"m", "higher"},
                                   {"J/token", "worse"},
                                   {"ms/step", "slower"},
                                   {"tokens/J", "better"},
                                   {"GFLOPS", "faster"},
                                   {"FPS", "faster"},
                                   {"images/sec", "faster"},
                                   {"GFLOP/s/W", "better"},
                                   {"EUR/kWh", "worse"},
                                   {"gCO2e/kWh", "worse"},
                                   {"EUR/h", "worse"},
                                   {"W", "higher"},
                                   {"ns/day", "higher"},
                                   {"", "better", ", better: higher"},
                                   {"s", "faster", ", better: higher"},
                                   {"s", "faster", "", ", better: higher"}}) {
    const std::string text =
        "name: d\nstep: {name: s, do: x}\n"
        "patternset: {name: p, pattern: {name: time, type: float" +
        one.of_pattern +
        ", _: x}}\n"
        "analyser: {name: a, use: p, analyse: {step: s, file: stdout}}\n"
        "result: {use: a, table: {name: t, column: {title: Time" +
        one.of_column + ", _: time_avg}}}\n";
    const model::Benchmark benchmark = model::benchmark_of(text);
    EXPECT_EQ(word_of(numbers::Word::higher, better_of(benchmark, "time", one.unit), one.unit),
              one.word)
        << one.unit << one.of_pattern << one.of_column;
  }
}

}  // namespace
}  // namespace bench::insight
