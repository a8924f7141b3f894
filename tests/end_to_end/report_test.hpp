#pragma once

#include "bench_program.hpp"
#include "support/report_library.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace bench::end_to_end {

/// Where Vega is, without which there is no report.
class ReportTest : public testing::Test {
 protected:
  /// Two precisions and three batch sizes, of which one does not fit into the memory.
  static constexpr const char* training = R"yaml(name: training
outpath: runs
comment: a sweep
parameterset: {name: p, parameter: [{precision: [fp16, fp32]}, {batch_size: [8, 16, 32]}]}
step:
  name: train
  use: p
  prune: {when: oom, larger: batch_size}
  do: |
    test $precision$batch_size != fp3232 || { echo result=oom; exit 3; }
    echo "rate=$(($batch_size * 10))"
patternset: {name: o, pattern: {name: rate, type: int, unit: images/s, _: rate=$jube_pat_int}}
analyser: {name: a, use: o, analyse: {step: train, file: stdout}}
result: {use: a, table: {name: rates, style: pretty, sort: [precision, batch_size], column: [precision, batch_size, rate]}}
)yaml";

  /// A region in a measured program.
  static constexpr const char* measured = R"yaml(name: power
outpath: runs
step:
  name: train
  batch: true
  energy: {methods: "mock:constant=100W", interval: 20ms}
  do: |
    echo "begin load" >> $$BENCH_ENERGY_REGIONS
    until [ $$(wc -l < power.csv) -gt 5 ]; do sleep 0.05; done
    echo "end load" >> $$BENCH_ENERGY_REGIONS
    until [ $$(wc -l < power.csv) -gt 8 ]; do sleep 0.05; done
)yaml";

  void SetUp() override {
    if (!support::has_report_library(BUILD_DIRECTORY))
      GTEST_SKIP() << "npm has not fetched Vega: cmake --build build/release --target fetch_vega";
  }

  void run(const std::string& input, int code = 0) const { here_.run("in.yaml", input, {}, code); }

  std::string report(std::vector<std::string> arguments, int code = 0) const {
    return here_.text_of("report", std::move(arguments), code);
  }

  Playground here_;
};

}  // namespace bench::end_to_end
