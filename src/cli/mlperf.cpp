#include "command.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/cli/output/show.hpp>
#include <bench/results/table.hpp>
#include <bench/share/mlperf.hpp>

namespace bench::cli {
namespace {

namespace fs = std::filesystem;
using results::Cell;
using results::Table;

struct ScoreOptions {
  std::vector<std::string> logs;
  std::string style = "pretty";
  bool throughput = false;
  bool without_staging = false;  ///< Accepted for scripts; changes nothing.
};

/// The meter's total beside a log that is the standard output of a workpackage.
void add_energy_beside(mlperf::Training& training) {
  constexpr std::string_view total = "energy_wh=";
  const fs::path summary = fs::path(training.log).parent_path() / "energy.txt";
  if (!fs::exists(summary))
    return;
  for (const std::string& line : split(read_file(summary), "\n"))
    if (line.starts_with(total))
      training.energy_wh = parse_number(strip(std::string_view(line).substr(total.size())));
    else if (strip(line) == "energy_quality=estimated")
      training.energy_is_estimated = true;
}

/// Adds the energy of each training. One that several logs share belongs to none of them.
void add_energy(std::vector<mlperf::Result>& results) {
  std::map<fs::path, int> logs_in;
  const auto directory_of = [](const mlperf::Training& training) {
    return fs::weakly_canonical(fs::absolute(training.log).parent_path());
  };
  for (const mlperf::Result& result : results)
    for (const mlperf::Training& training : result.trainings)
      ++logs_in[directory_of(training)];
  for (mlperf::Result& result : results)
    for (mlperf::Training& training : result.trainings)
      if (logs_in[directory_of(training)] == 1)
        add_energy_beside(training);
}

Cell text_cell(const std::string& text) {
  return {.value = Value(text)};
}

Cell number_cell(std::optional<double> number, const std::string& format,
                 const std::string& absent_reason = "not in the log") {
  if (!number)
    return {.absent_reason = absent_reason};
  return {.value = Value(*number), .format = format};
}

/// Of a training, a mean of them or a throughput.
template <class Result>
Cell energy_cell(const Result& of) {
  Cell cell = number_cell(of.energy_wh, ".4g",
                          "no energy.txt with a total beside the log, or several logs beside it");
  cell.estimated = cell.value && of.energy_is_estimated;
  return cell;
}

std::string role_of(const mlperf::Training& training, std::size_t index,
                    const std::vector<std::size_t>& counted) {
  if (std::ranges::find(counted, index) != counted.end())
    return "yes";
  return training.reached_target ? "no" : "no, missed the target";
}

/// A row per log.
Table trainings_table(const std::vector<mlperf::Result>& results,
                      const std::vector<std::vector<std::size_t>>& counted) {
  Table table{.name = "trainings",
              .headings = {{"log", ""},
                           {"time", "min"},
                           {"staging", "min"},
                           {"epochs", ""},
                           {"training samples/s per accelerator", ""},
                           {"evaluation samples/s per accelerator", ""},
                           {"compute budget", "h"},
                           {"energy", "Wh"},
                           {"counts", ""}}};
  for (std::size_t r = 0; r < results.size(); ++r)
    for (std::size_t i = 0; i < results[r].trainings.size(); ++i) {
      const mlperf::Training& training = results[r].trainings[i];
      table.rows.push_back({text_cell(training.log), number_cell(training.time_s / 60, ".2f"),
                            number_cell(training.staging_s / 60, ".2f"),
                            number_cell(training.epochs, ".0f"),
                            number_cell(training.train_samples_per_s_per_device, ".2f"),
                            number_cell(training.eval_samples_per_s_per_device, ".2f"),
                            number_cell(training.budget_device_h(), ".2f"), energy_cell(training),
                            text_cell(role_of(training, i, counted[r]))});
    }
  return table;
}

/// The first cells of a result's row.
std::vector<Cell> name_cells(const mlperf::Result& result) {
  return {text_cell(result.benchmark), text_cell(result.division), text_cell(result.platform),
          number_cell(result.nodes, ".0f")};
}

Table score_table(const std::vector<mlperf::Result>& results,
                  const std::vector<mlperf::Score>& scores) {
  Table table{.name = "score",
              .headings = {{"benchmark", ""},
                           {"division", ""},
                           {"platform", ""},
                           {"nodes", ""},
                           {"accelerators", ""},
                           {"logs", ""},
                           {"time to solution", "min"},
                           {"staging", "min"},
                           {"epochs", ""},
                           {"training samples/s per accelerator", ""},
                           {"evaluation samples/s per accelerator", ""},
                           {"compute budget", "h"},
                           {"energy", "Wh"}}};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const mlperf::Score& score = scores[i];
    const std::string reason = join(score.problems, "; ");
    const auto cell = [&](std::optional<double> number, const char* format) {
      return score.counted.empty() ? number_cell(std::nullopt, "", reason)
                                   : number_cell(number, format);
    };
    std::vector<Cell> row = name_cells(results[i]);
    row.push_back(number_cell(results[i].trainings.front().devices, ".0f"));
    row.push_back(number_cell(static_cast<double>(results[i].trainings.size()), ".0f"));
    row.push_back(cell(score.mean.time_s / 60, ".2f"));
    row.push_back(cell(score.mean.staging_s / 60, ".2f"));
    row.push_back(cell(score.mean.epochs, ".2f"));
    row.push_back(cell(score.mean.train_samples_per_s_per_device, ".2f"));
    row.push_back(cell(score.mean.eval_samples_per_s_per_device, ".2f"));
    row.push_back(cell(score.mean.budget_device_h(), ".2f"));
    row.push_back(score.counted.empty() ? number_cell(std::nullopt, "", reason)
                                        : energy_cell(score.mean));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table throughput_table(const std::vector<mlperf::Result>& results,
                       const std::vector<mlperf::Throughput>& throughputs) {
  Table table{.name = "throughput",
              .headings = {{"benchmark", ""},
                           {"division", ""},
                           {"platform", ""},
                           {"nodes per training", ""},
                           {"accelerators", ""},
                           {"accelerators per training", ""},
                           {"trainings", ""},
                           {"time to train all", "min"},
                           {"trainings per hour", ""},
                           {"energy", "Wh"}}};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const mlperf::Throughput& all = throughputs[i];
    const std::string reason = join(all.problems, "; ");
    const auto cell = [&](std::optional<double> number, const char* format) {
      return reason.empty() ? number_cell(number, format) : number_cell(std::nullopt, "", reason);
    };
    std::vector<Cell> row = name_cells(results[i]);
    row.push_back(cell(all.devices, ".0f"));
    row.push_back(cell(all.devices_per_training, ".0f"));
    row.push_back(cell(static_cast<double>(all.counted.size()), ".0f"));
    row.push_back(cell(all.time_s / 60, ".2f"));
    row.push_back(cell(all.trainings_per_hour(), ".3g"));
    row.push_back(reason.empty() ? energy_cell(all) : number_cell(std::nullopt, "", reason));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Adds notes to `table` on logs that break rules. Returns whether there are none.
bool note_violations(const std::vector<mlperf::Log>& logs, Table& table) {
  bool all_right = true;
  for (const mlperf::Log& log : logs)
    if (const std::size_t count = mlperf::violations_of(log).size(); count > 0) {
      table.notes.push_back(fmt::format("{} breaks {}: bench mlperf check {}", log.file,
                                        plural(count, "rule"), shell_quote(log.file)));
      all_right = false;
    }
  table.notes.emplace_back("MLPerf-style, unofficial: only a review by MLCommons makes a result");
  return all_right;
}

int show_score(const ScoreOptions& options) {
  if (options.without_staging)
    tell(
        "note: --without-staging has no effect: times are from run_start to run_stop, as in the "
        "official results");
  std::vector<mlperf::Log> logs;
  for (const std::string& file : options.logs)
    logs.push_back(mlperf::parse_log(read_file(file), file));
  std::vector<mlperf::Result> results = mlperf::results_of(logs);
  add_energy(results);

  bool all_right = true;
  std::vector<std::vector<std::size_t>> counted;
  const auto take = [&](auto of) {
    std::vector<decltype(of(results.front()))> found;
    for (const mlperf::Result& result : results) {
      found.push_back(of(result));
      counted.push_back(found.back().counted);
      all_right = found.back().problems.empty() && all_right;
    }
    return found;
  };
  Table last = options.throughput ? throughput_table(results, take(mlperf::throughput_of))
                                  : score_table(results, take(mlperf::score_of));
  all_right = note_violations(logs, last) && all_right;
  const results::Style& style = results::style_of(options.style);
  std::vector<ShownTable> tables;
  if (!style.is_for_one_table)
    tables.push_back({trainings_table(results, counted), &style});
  tables.push_back({std::move(last), &style});
  print_tables(std::move(tables));
  return all_right ? 0 : failure;
}

/// `bench mlperf score`. Returns what runs once its options are parsed.
std::function<int()> declare_mlperf_score(CLI::App& app) {
  const auto options = std::make_shared<ScoreOptions>();
  app.add_option("LOG", options->logs, "outputs of programs with --mllog, one per training")
      ->required();
  app.add_flag("--throughput", options->throughput,
               "weak scaling: the logs are of models trained at the same time");
  app.add_flag("--without-staging", options->without_staging, "")->group("");
  declare_style(app, options->style, "how to show the tables");
  return [options] { return show_score(*options); };
}

/// Prints the violations in a log. Returns true if there are none.
bool check_log(const std::string& file) {
  const mlperf::Log log = mlperf::parse_log(read_file(file));
  const std::vector<mlperf::Violation> violations = mlperf::violations_of(log);
  for (const mlperf::Violation& violation : violations)
    print(violation.line == 0 ? fmt::format("{}: {}: {}\n", file, violation.rule, violation.message)
                              : fmt::format("{}:{}: {}: {}\n", file, violation.line, violation.rule,
                                            violation.message));
  if (violations.empty())
    print(fmt::format("{}: complies with the rules for {} ({})\n", file,
                      mlperf::text_at(log, "submission_benchmark"),
                      plural(log.events.size(), "line")));
  return violations.empty();
}

}  // namespace

std::function<int()> declare_mlperf(CLI::App& app) {
  const auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* check =
      app.add_subcommand("check", "check that logs have the lines that MLPerf HPC's rules require");
  check->add_option("LOG", *files, "output of a program with --mllog")->required();
  check->fallthrough();
  CLI::App* score = app.add_subcommand("score", "score trainings by MLPerf HPC's rules");
  score->fallthrough();
  const std::function<int()> show_score = declare_mlperf_score(*score);
  app.require_subcommand(1);
  return [files, score, show_score] {
    if (score->parsed())
      return show_score();
    bool all_right = true;
    for (const std::string& file : *files)
      all_right = check_log(file) && all_right;
    return all_right ? 0 : failure;
  };
}

}  // namespace bench::cli
