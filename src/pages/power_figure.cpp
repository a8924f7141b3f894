#include "power_figure.hpp"

#include "figure_channels.hpp"
#include "figure_plan.hpp"
#include "figure_source.hpp"
#include "meter_files.hpp"
#include "report_sheet.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/diagnostics.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/energy/program/meter_directory.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/pages/figure.hpp>
#include <bench/results/table.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::pages {
namespace {

namespace fs = std::filesystem;
using workspace::Workpackage;

/// The logs that one panel shows: of several nodes if each node has its own.
struct LogGroup {
  std::string label;
  std::vector<fs::path> logs;
};

/// Empty for `power.csv`.
std::string node_of(const fs::path& log) {
  return energy::suffix_of(log.filename().string(), "power", ".csv").value_or("");
}

/// @returns whether there are enough samples for a line
bool add_rows(const std::string& label, const fs::path& log, const PowerCurve& curve,
              results::Table& table) {
  const std::string node = node_of(log);
  constexpr std::size_t least_samples = 2;
  bool any = false;
  for (const PowerCurve::Channel& channel : curve.channels) {
    const auto samples = channel.samples.points();
    if (samples.size() < least_samples)
      continue;
    any = true;
    for (const Envelope::Point& sample : samples) {
      auto& row = table.rows.emplace_back(table.headings.size());
      row[0].value = label;
      row[1].value = node.empty() ? channel.name : node + ": " + channel.name;
      row[2].value = sample.x;
      row[3].value = sample.y;
      row[3].estimated = channel.name.starts_with("model:");
    }
  }
  return any;
}

/// The longest visits, which are visible, ordered by their beginning.
std::vector<RegionVisit> bands_of(std::vector<RegionVisit> visits) {
  constexpr std::size_t most_bands = 300;
  std::ranges::stable_sort(visits, std::greater(),
                           [](const RegionVisit& one) { return one.end_s - one.begin_s; });
  visits.resize(std::min(visits.size(), most_bands));
  std::ranges::stable_sort(visits, {}, &RegionVisit::begin_s);
  return visits;
}

/// Regions behind the lines of a panel.
void draw_bands(const std::vector<RegionVisit>& bands, Panel& panel) {
  if (bands.empty())
    return;
  Json specification = Json::parse(panel.specification);
  Json& lines = specification["layer"];
  for (Json& line : lines)
    line["encoding"].erase("shape");  // which would add a second legend
  Json values = Json::array();
  for (const RegionVisit& band : bands)
    values.push_back({{"region", band.region}, {"begin", band.begin_s}, {"end", band.end_s}});
  Json encoding;
  encoding["x"] = lines[0]["encoding"]["x"];
  encoding["x"]["field"] = "begin";
  encoding["x2"] = {{"field", "end"}};
  encoding["color"] = {{"field", "region"},
                       {"type", "nominal"},
                       {"title", "region"},
                       {"scale", {{"scheme", "set2"}}},
                       {"legend", {{"orient", "bottom"}}}};
  encoding["tooltip"] = {{{"field", "region"}, {"title", "region"}},
                         {{"field", "begin"}, {"title", "begin [s]"}},
                         {{"field", "end"}, {"title", "end [s]"}}};
  const Json rectangles{{"data", {{"values", values}}},
                        {"mark", {{"type", "rect"}, {"style", "region"}}},
                        {"encoding", encoding}};
  // Lines in their own group share one legend.
  lines = Json::array({rectangles, {{"layer", lines}}});
  specification["resolve"] = {{"scale", {{"color", "independent"}}}};
  panel.specification = specification.dump();
}

/// The regions that each sample of the figure is in, as a column of its data.
/// @param bands of each panel, by its label
void add_region_column(const std::map<std::string, std::vector<RegionVisit>>& bands,
                       const char* panels_of, Figure& figure) {
  const auto column = [&](const char* title) -> const FigureColumn& {
    return *std::ranges::find(figure.columns, title, &FigureColumn::title);
  };
  FigureColumn regions{.title = "region", .unit = "", .values = {}};
  const FigureColumn& times = column("time");
  const FigureColumn& labels = column(panels_of);
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

/// Adds the bands of all panels to them and to the data.
/// @param groups of the panels
void add_regions(const fs::path& run_directory, const std::vector<LogGroup>& groups,
                 const char* panels_of, std::uintmax_t most_bytes, PowerFigure& power) {
  std::map<std::string, std::vector<RegionVisit>> bands;
  for (std::size_t k = 0; k < power.figure->panels.size(); ++k) {
    // For several nodes, those of the first: their clocks and programs are alike.
    const fs::path times = file_beside(groups[k].logs.front(), "region_times");
    std::vector<RegionVisit> of_panel;
    if (auto damage = read_meter_file(
            run_directory, times, most_bytes,
            [&](const std::string& text) { of_panel = bands_of(region_visits(text, times)); }))
      power.warnings.push_back(*std::move(damage));
    draw_bands(of_panel, power.figure->panels[k]);
    if (!of_panel.empty())
      bands.emplace(groups[k].label, std::move(of_panel));
  }
  if (!bands.empty())
    add_region_column(bands, panels_of, *power.figure);
}

/// A panel for each group with samples.
/// @param panels_of what a panel shows: `workpackage`
/// @param most_bytes of a `region_times.csv`
PowerFigure figure_of(const fs::path& run_directory, std::vector<LogGroup> groups,
                      const char* panels_of, std::uintmax_t most_bytes) {
  PowerFigure power;
  results::Table table;
  table.name = "power";
  for (const auto& [title, unit] :
       {std::pair(panels_of, ""), {"channel", ""}, {"time", "s"}, {"power", "W"}})
    table.headings.push_back({.title = title, .unit = unit, .place = {}, .name = title});
  std::erase_if(groups, [&](const LogGroup& group) {
    bool any = false;
    for (const fs::path& log : group.logs) {
      PowerCurve curve = read_power_curve(open_below(run_directory, log), log);
      any |= add_rows(group.label, log, curve, table);
      if (curve.damage)
        power.warnings.push_back(*std::move(curve.damage));
    }
    return !any;
  });
  if (table.rows.empty())
    return power;
  power.figure = draw(source_of(table, [](const std::string&) { return false; }),
                      {.x = 2,
                       .y = {3},
                       .color = {1},
                       .facet = {0},
                       .x_scale = Scale::linear,
                       .title = "power over time"});
  add_regions(run_directory, groups, panels_of, most_bytes, power);
  return power;
}

/// A workpackage with samples.
struct Measured {
  const Workpackage* workpackage = nullptr;
  double duration_s = 0;
};

/// `power.csv`, and `power.NODE.csv` of jobs with a meter on each node. Never blocks on a FIFO that
/// commands put there.
std::vector<fs::path> logs_of(const space::Run& run, const Workpackage& workpackage) {
  std::vector<fs::path> logs =
      files_matching(run.directory.path / workpackage.directory, "work/power*.csv");
  std::erase_if(logs, [&](const fs::path& log) {
    return !is_power_log(log) || open_below(run.directory.path, log).get() < 0;
  });
  return logs;
}

/// Workpackages that may have samples, longest first.
std::vector<Measured> measured_of(const space::Run& run, const workspace::Workspace& workspace,
                                  const std::vector<Workpackage>& all) {
  std::map<long long, double> durations;
  for (const workspace::Attempt& attempt : workspace.attempts())
    durations[attempt.workpackage] = attempt.run_time_s().value_or(0);
  std::vector<Measured> measured;
  for (const Workpackage& one : all) {
    const model::Step* step = run.benchmark.step(one.step);
    if (step && step->energy && one.state == workspace::State::done)
      measured.push_back({&one, durations[one.id]});
  }
  std::ranges::stable_sort(measured, std::greater(), &Measured::duration_s);
  return measured;
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

}  // namespace

PowerFigure power_figure(const space::Run& run, const workspace::Workspace& workspace) {
  constexpr std::size_t most_panels = 6;
  constexpr std::uintmax_t most_bytes = 1 << 26;  // a million visits
  const std::vector<Workpackage> all = workspace.workpackages();
  std::size_t with_samples = 0;
  std::vector<std::pair<const Workpackage*, std::vector<fs::path>>> longest;
  for (const Measured& one : measured_of(run, workspace, all)) {
    std::vector<fs::path> logs = logs_of(run, *one.workpackage);
    if (!logs.empty() && ++with_samples <= most_panels)
      longest.emplace_back(one.workpackage, std::move(logs));
  }
  std::ranges::sort(longest, {}, [](const auto& one) { return one.first->id; });
  std::vector<LogGroup> groups;
  for (auto& [workpackage, logs] : longest)
    groups.push_back({label_of(*workpackage), std::move(logs)});
  PowerFigure power = figure_of(run.directory.path, std::move(groups), "workpackage", most_bytes);
  if (!power.figure)
    return power;
  power.figure->id = slug_of(fmt::format("power {}", name_of(run)));
  if (const std::size_t shown = power.figure->panels.size(); with_samples > shown)
    power.figure->notes.push_back(
        fmt::format("the {} longest of {} workpackages with samples", shown, with_samples));
  for (const Warning& warning : power.warnings)
    power.figure->notes.push_back(note_of(run.directory.path, warning));
  return power;
}

PowerFigure power_figure(const fs::path& run_directory, const std::vector<std::string>& logs) {
  constexpr std::uintmax_t most_bytes = 1 << 22;  // several visitors may ask at once
  std::vector<LogGroup> groups;
  for (std::size_t k = 0; k < std::min(logs.size(), most_power_logs); ++k)
    groups.push_back({logs[k], {run_directory / logs[k]}});
  PowerFigure power = figure_of(run_directory, std::move(groups), "log", most_bytes);
  if (power.figure && logs.size() > most_power_logs)
    power.figure->notes.push_back(
        fmt::format("the first {} of {} logs of samples", most_power_logs, logs.size()));
  return power;
}

}  // namespace bench::pages
