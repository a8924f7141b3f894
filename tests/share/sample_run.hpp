#pragma once

#include "support/environment_variable.hpp"

#include <string>
#include <utility>
#include <vector>

#include <time.h>

#include <bench/model/benchmark.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::support {

/// A run of one step with a workpackage in each state that formats tell apart, with names and texts
/// that have every character that one of them must escape. Its times are UTC.
class SampleRun {
 public:
  SampleRun() {
    ::tzset();
    run.directory = {.id = 3, .path = "/runs/000003"};
    run.benchmark.name = "sample \"x\"";
    run.benchmark.steps.push_back({.name = "train, test"});
    run.benchmark.steps.back().commands.push_back({.text = "train --size $size"});
    space::RunMetadata& metadata = run.metadata;
    metadata.id = "3";
    metadata.uuid = "01a213cf-9583-7637-80db-0a4931418bd9";
    metadata.benchmark = run.benchmark.name;
    metadata.comment = "what <it> costs & more";
    metadata.started = "2026-01-31 12:00:00";
    metadata.started_unix_s = 1'769'860'800;
    metadata.home = "/home/me/bench";
    metadata.input_file = "/home/me/bench/sample.yaml";
    metadata.platform = "local";
    metadata.bench_version = "0.1.0";
    metadata.provenance = {{"host", "node1"}, {"cpu", "A | B"}};
    using workspace::State;
    add(State::done, "1", "", 1.5, 0.25);
    add(State::failed, "2 = \\ \"two\"", "exit code 1: a | b < c\nsecond line", 0.5, {});
    add(State::skipped, "4,5", "4 ran out of memory", {}, {});
    add(State::ready, "8\\", "", {}, {});
    using results::TidyColumn;
    tidy.columns = {TidyColumn::origin, TidyColumn::finding, TidyColumn::finding, TidyColumn::end,
                    TidyColumn::meter};
    for (const auto& [title, unit] :
         std::vector<std::pair<std::string, std::string>>{{"workpackage", ""},
                                                          {"rate", "GB/s"},
                                                          {"word", ""},
                                                          {"run_time", "s"},
                                                          {"energy_wh", "Wh"}})
      tidy.table.headings.push_back({.title = title, .unit = unit, .name = title});
  }

  space::Run run;
  results::TidyTable tidy;

 private:
  void add(workspace::State state, const std::string& size, const std::string& reason,
           std::optional<double> seconds, std::optional<double> energy_wh) {
    const auto id = static_cast<long long>(tidy.workpackages.size());
    tidy.workpackages.push_back({.id = id,
                                 .step = "train, test",
                                 .combination = id,
                                 .parameters = {{"size", size}, {"host", "here"}},
                                 .directory = "00000" + std::to_string(id) + "_train",
                                 .state = state,
                                 .reason = reason,
                                 .attempts = seconds ? 1 : 0});
    constexpr double noon = 1'769'860'800;  // 2026-01-31 12:00:00 UTC
    if (seconds)
      tidy.attempts.push_back({.workpackage = id,
                               .number = 1,
                               .host = "node1",
                               .job_id = "41" + std::to_string(id),
                               .outcome = reason.empty() ? "done" : "failed",
                               .started_unix_s = noon,
                               .ended_unix_s = noon + *seconds});
    std::vector<results::Cell>& row = tidy.table.rows.emplace_back(5);
    row[0].value = id;
    if (energy_wh) {
      row[1].value = 12.5;
      row[2].value = "fast";
      row[4].value = *energy_wh;
    } else if (seconds) {
      row[1].absent_reason = "no match in stdout";
      row[4].absent_reason = "no power sensor";
    }
    if (seconds)
      row[3].value = *seconds;
  }

  EnvironmentVariable zone_{"TZ", "UTC0"};
};

}  // namespace bench::support
