#include "report_power.hpp"

#include "figure_draw.hpp"
#include "figure_plan.hpp"
#include "figure_points.hpp"
#include "figure_source.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/below.hpp>
#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/energy/program/csv.hpp>
#include <bench/energy/program/meter_directory.hpp>
#include <bench/energy/program/power_log.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/pages/figure.hpp>
#include <bench/pages/report_sheet.hpp>
#include <bench/results/table.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::report {
namespace {

namespace fs = std::filesystem;
using workspace::Workpackage;

constexpr std::size_t most_power_panels = 6;
constexpr std::size_t most_power_points =
    1000;  ///< Per channel; more points than pixels would not be visible.

struct Measured {
  const Workpackage* workpackage = nullptr;
  std::vector<fs::path> logs;  ///< One per node if each node has its own.
  double duration_s = 0;
};

/// The samples of one channel.
struct Samples {
  std::vector<double> time_s;
  std::vector<double> power_w;
};

/// `power.csv`, and `power.NODE.csv` of jobs with a meter on each node. Never blocks on a FIFO that
/// commands put there.
std::vector<fs::path> logs_of(const setup::Run& run, const Workpackage& workpackage) {
  std::vector<fs::path> logs =
      files_matching(run.directory.path / workpackage.directory, "work/power*.csv");
  std::erase_if(logs, [&](const fs::path& log) {
    return !is_power_log(log) || open_below(run.directory.path, log).get() < 0;
  });
  return logs;
}

/// Empty for `power.csv`.
std::string node_of(const fs::path& log) {
  return energy::suffix_of(log.filename().string(), "power", ".csv").value_or("");
}

/// Workpackages with samples, longest first.
std::vector<Measured> measured_of(const setup::Run& run, const workspace::Workspace& workspace,
                                  const std::vector<Workpackage>& all) {
  std::map<long long, double> durations;
  for (const workspace::Attempt& attempt : workspace.attempts())
    durations[attempt.workpackage] = attempt.run_time_s().value_or(0);
  std::vector<Measured> measured;
  for (const Workpackage& one : all) {
    const model::Step* step = run.benchmark.step(one.step);
    if (step && step->energy && one.state == workspace::State::done)
      measured.push_back({&one, {}, durations[one.id]});
  }
  std::ranges::stable_sort(measured, std::greater(), &Measured::duration_s);
  return measured;
}

/// Calls `read`. One damaged file of a workpackage must not end the report of all.
void isolate_errors(const fs::path& file, std::vector<Warning>& warnings,
                    const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& error) {
    warnings.push_back({error.message(), "it is left out", {file.string(), error.place().line, 0}});
  }
}

/// By channel, in order of the columns.
std::vector<std::pair<std::string, Samples>> samples_in(const setup::Run& run, const fs::path& log,
                                                        std::vector<Warning>& warnings) {
  energy::PowerLogReader reader(open_below(run.directory.path, log), log);
  if (!reader.columns().empty() && reader.columns().front() != "time_s")
    throw Error("not a log of power samples", "", {log.string(), 1, 0});
  const auto columns = reader.channels();
  std::vector<std::pair<std::string, Samples>> channels;
  for (const auto& channel : columns)
    channels.emplace_back(channel.name, Samples());
  std::vector<double> row;
  while (reader.next(row))
    for (std::size_t k = 0; k < columns.size(); ++k)
      if (const double power_w = row[columns[k].column]; std::isfinite(power_w)) {
        channels[k].second.time_s.push_back(row.front());
        channels[k].second.power_w.push_back(power_w);
      }
  if (auto damage = damage_in(reader, row, log))
    warnings.push_back(*std::move(damage));
  return channels;
}

/// `3: batch_size=16, precision=fp16`
std::string label_of(const Workpackage& workpackage) {
  std::vector<std::string> parameters;
  for (const auto& [name, value] : workpackage.parameters)
    parameters.push_back(name + "=" + one_line(value));
  constexpr std::size_t most_parameters = 4;
  const bool some = parameters.size() <= most_parameters && !parameters.empty();
  return some ? fmt::format("{}: {}", workpackage.id, join(parameters, ", "))
              : fmt::format("{} ({})", workpackage.id, workpackage.step);
}

/// @returns whether there are enough samples for a line
bool add_rows(const setup::Run& run, const std::string& label, const fs::path& log,
              result::Table& table, std::vector<Warning>& warnings) {
  const std::string node = node_of(log);
  constexpr std::size_t least_samples = 3;
  bool any = false;
  for (const auto& [channel, samples] : samples_in(run, log, warnings)) {
    if (samples.power_w.size() < least_samples)
      continue;
    any = true;
    for (const std::size_t k : thinned(samples.power_w, most_power_points)) {
      auto& row = table.rows.emplace_back(table.headings.size());
      row[0].value = label;
      row[1].value = node.empty() ? channel : node + ": " + channel;
      row[2].value = samples.time_s[k];
      row[3].value = samples.power_w[k];
      row[3].estimated = channel.starts_with("model:");
    }
  }
  return any;
}

/// The visits in the meter's file, if it exists: the longest, which are visible, ordered by their
/// beginning.
std::vector<RegionVisit> bands_in(const fs::path& directory, const fs::path& times) {
  constexpr std::uintmax_t most_bytes = 1 << 26;  // a million visits
  constexpr std::size_t most_bands = 300;
  if (open_below(directory, times).get() < 0)
    return {};
  std::vector<RegionVisit> bands = region_visits(read_limited(times, most_bytes), times);
  std::ranges::stable_sort(bands, std::greater(),
                           [](const RegionVisit& one) { return one.end_s - one.begin_s; });
  bands.resize(std::min(bands.size(), most_bands));
  std::ranges::stable_sort(bands, {}, &RegionVisit::begin_s);
  return bands;
}

/// Regions behind the lines of a panel.
void draw_bands(const std::vector<RegionVisit>& bands, Panel& panel) {
  if (bands.empty())
    return;
  nlohmann::ordered_json specification = nlohmann::ordered_json::parse(panel.specification);
  nlohmann::ordered_json values = nlohmann::ordered_json::array();
  for (const RegionVisit& band : bands)
    values.push_back({{"region", band.region}, {"begin", band.begin_s}, {"end", band.end_s}});
  nlohmann::ordered_json x = specification["layer"][0]["encoding"]["x"];
  x["field"] = "begin";
  auto& layers = specification["layer"];
  const nlohmann::ordered_json layer = {{"data", {{"values", values}}},
                                        {"mark", {{"type", "rect"}, {"style", "region"}}},
                                        {"encoding",
                                         {{"x", x},
                                          {"x2", {{"field", "end"}}},
                                          {"color",
                                           {{"field", "region"},
                                            {"type", "nominal"},
                                            {"title", "region"},
                                            {"scale", {{"scheme", "set2"}}},
                                            {"legend", {{"orient", "bottom"}}}}},
                                          {"tooltip",
                                           {{{"field", "region"}, {"title", "region"}},
                                            {{"field", "begin"}, {"title", "begin [s]"}},
                                            {{"field", "end"}, {"title", "end [s]"}}}}}}};
  // Lines in their own group share one legend.
  for (auto& one : layers)
    one["encoding"].erase("shape");  // which would add a second legend
  nlohmann::ordered_json group;
  group["layer"] = std::move(layers);
  layers = nlohmann::ordered_json::array();
  layers.push_back(layer);
  layers.push_back(std::move(group));
  specification["resolve"] = {{"scale", {{"color", "independent"}}}};
  panel.specification = specification.dump();
}

/// The regions that each sample of the figure is in, as a column of its data.
/// @param bands of each workpackage, by its label
void add_region_column(const std::map<std::string, std::vector<RegionVisit>>& bands,
                       Figure& figure) {
  const auto column = [&](const char* title) -> const FigureColumn& {
    return *std::ranges::find(figure.columns, title, &FigureColumn::title);
  };
  FigureColumn regions{.title = "region", .unit = "", .values = {}};
  const FigureColumn& times = column("time");
  const FigureColumn& labels = column("workpackage");
  for (std::size_t row = 0; row < times.values.size(); ++row) {
    const auto time_s = as_number(times.values[row].value());
    std::vector<std::string> names;
    if (const auto found = bands.find(to_text(labels.values[row].value())); found != bands.end())
      for (const RegionVisit& band : found->second)
        if (time_s && band.begin_s <= *time_s && *time_s < band.end_s &&
            std::ranges::find(names, band.region) == names.end())
          names.push_back(band.region);
    auto& value = regions.values.emplace_back();
    if (!names.empty())
      value = join(names, ", ");
  }
  figure.columns.push_back(std::move(regions));
}

/// Adds the bands of all shown workpackages to the panels and the data.
void add_regions(const setup::Run& run, const std::vector<Measured>& shown, Figure& figure,
                 std::vector<Warning>& warnings) {
  std::map<std::string, std::vector<RegionVisit>> bands;
  for (std::size_t k = 0; k < figure.panels.size(); ++k) {
    // For several nodes, those of the first: their clocks and programs are alike.
    const fs::path times = file_beside(shown[k].logs.front(), "region_times");
    std::vector<RegionVisit> of_panel;
    isolate_errors(times, warnings, [&] { of_panel = bands_in(run.directory.path, times); });
    draw_bands(of_panel, figure.panels[k]);
    if (!of_panel.empty())
      bands.emplace(label_of(*shown[k].workpackage), std::move(of_panel));
  }
  if (!bands.empty())
    add_region_column(bands, figure);
}

}  // namespace

std::vector<RegionVisit> region_visits(const std::string& text, const fs::path& file) {
  std::vector<RegionVisit> visits;
  for (const energy::CsvLine& line : energy::parse_csv(text, file))
    if (line.cells.size() == 3)
      if (const auto begin_s = parse_number(line.cells[1]), end_s = parse_number(line.cells[2]);
          begin_s && end_s && std::isfinite(*begin_s) && std::isfinite(*end_s))
        visits.push_back({to_valid_utf8(line.cells[0]), *begin_s, *end_s});
  return visits;
}

bool is_power_log(const fs::path& file) {
  return energy::suffix_of(file.filename().string(), "power", ".csv").has_value();
}

fs::path file_beside(const fs::path& log, const std::string& stem) {
  return log.parent_path() / (stem + log.filename().string().substr(std::string("power").size()));
}

std::optional<Warning> damage_in(const energy::PowerLogReader& reader,
                                 const std::vector<double>& last, const fs::path& log) {
  if (reader.damaged_line() == 0)
    return std::nullopt;
  return Warning{
      fmt::format("{} cells where the first line has {}", last.size(), reader.columns().size()),
      "it is left out from here on",
      {log.string(), reader.damaged_line(), 0}};
}

std::string note_of(const setup::Run& run, const Warning& warning) {
  const std::string directory = run.directory.path.string() + "/";
  const std::string line =
      warning.place.line > 0 ? fmt::format("line {}: ", warning.place.line) : "";
  return replace_all(
      fmt::format("{}: {}{}; {}", warning.place.file, line, warning.message, warning.hint),
      directory, "");
}

PowerFigure power_figure(const setup::Run& run, const workspace::Workspace& workspace) {
  const std::vector<Workpackage> all = workspace.workpackages();
  PowerFigure result;
  std::vector<Measured> measured = measured_of(run, workspace, all);
  result::Table table;
  table.name = "power";
  for (const auto& [title, unit] :
       {std::pair("workpackage", ""), {"channel", ""}, {"time", "s"}, {"power", "W"}})
    table.headings.push_back({.title = title, .unit = unit, .place = {}, .name = title});
  std::size_t with_samples = 0;
  std::vector<Measured> shown;
  for (Measured& one : measured) {
    one.logs = logs_of(run, *one.workpackage);
    if (one.logs.empty())
      continue;
    if (++with_samples <= most_power_panels)
      shown.push_back(one);
  }
  std::ranges::sort(shown, {}, [](const Measured& one) { return one.workpackage->id; });
  std::erase_if(shown, [&](const Measured& one) {
    bool any = false;
    for (const fs::path& log : one.logs)
      isolate_errors(log, result.warnings, [&] {
        any |= add_rows(run, label_of(*one.workpackage), log, table, result.warnings);
      });
    return !any;
  });
  if (table.rows.empty())
    return result;
  const Source source = source_of(table, [](const std::string&) { return false; });
  Figure figure = draw(source, {.x = 2,
                                .y = {3},
                                .color = {1},
                                .facet = {0},
                                .x_scale = Scale::linear,
                                .title = "power over time"});
  figure.id = slug_of(fmt::format("power {}", name_of(run)));
  add_regions(run, shown, figure, result.warnings);
  if (with_samples > shown.size())
    figure.notes.push_back(
        fmt::format("the {} longest of {} workpackages with samples", shown.size(), with_samples));
  for (const Warning& warning : result.warnings)
    figure.notes.push_back(note_of(run, warning));
  result.figure = std::move(figure);
  return result;
}

}  // namespace bench::report
