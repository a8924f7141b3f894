#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/figures.hpp>
#include <bench/energy/core/integrate.hpp>
#include <bench/energy/core/machine_state.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/csv.hpp>
#include <bench/energy/program/report.hpp>
#include <bench/energy/sources/methods.hpp>

namespace bench::energy {

std::string text_of(const EnergyCell& cell) {
  const double* const real = cell ? std::get_if<double>(&*cell) : nullptr;
  return real ? fmt::format("{:.7g}", *real) : cell ? to_text(*cell) : "";
}

std::string text_of(const NameValue& line) {
  const auto& [name, value] = line;
  const Figure* const figure = figure_of(name);
  const double* const real = std::get_if<double>(&value);
  return real && figure && (figure->of == Of::machine || figure->of == Of::level)
             ? fmt::format("{:.4g}", *real)
             : text_of(EnergyCell(value));
}

std::string line_of(const NameValue& line) {
  return line.first + "=" + text_of(line);
}

namespace {

// Level 1: a reading per second, of the compute nodes, of at least so many of them and so much.
constexpr double level_1_gap_s = 1;
constexpr int level_1_nodes = 15;
constexpr double level_1_power_w = 2000;

}  // namespace

Summary methodology_summary(const Measured& measured) {
  long long level = 0;
  std::string limit;
  if (measured.nodes == 0 || measured.parts) {
    limit = "subsystems: the nodes are not measured as a whole";
  } else if (measured.longest_gap_s > level_1_gap_s) {
    limit = fmt::format("granularity: {:.3g} s without a value, and level 1 needs one per second",
                        measured.longest_gap_s);
  } else if (measured.nodes < level_1_nodes || measured.power_mean_w < level_1_power_w) {
    limit = fmt::format(
        "machine fraction: {:.3g} kW on {} node{}, and level 1 needs 2 kW, 15 nodes and a tenth of "
        "the machine, or all of it",
        measured.power_mean_w / 1000, measured.nodes, measured.nodes == 1 ? "" : "s");
  } else {
    level = 1;
    limit =
        "machine fraction: level 1 if this is a tenth of the machine; level 2 also needs network "
        "and storage, and meters within 2 %";
  }
  return {{"energy_nodes", static_cast<long long>(measured.parts ? 0 : measured.nodes)},
          {"energy_gap_s", measured.longest_gap_s},
          {"energy_level", level},
          {"energy_level_limit", limit}};
}

namespace {

/// The lines of a summary; what is absent has none.
class Lines {
 public:
  void add(const std::string& name, std::optional<double> value) {
    if (value)
      lines_.emplace_back(name, *value);
  }
  void add(const std::string& name, const std::string& text) {
    if (!text.empty())
      lines_.emplace_back(name, text);
  }
  void add(Summary lines) { std::ranges::move(lines, std::back_inserter(lines_)); }

  void add_clock(const std::string& device, const Spread& clock_mhz) {
    if (clock_mhz.count == 0)
      return;
    add(device + "_clock_mhz", clock_mhz.mean());
    add(device + "_clock_min_mhz", clock_mhz.least);
  }

  void add_temperature(const std::string& device, const Spread& temperature_c) {
    if (temperature_c.count == 0)
      return;
    add(device + "_temperature_start_c", temperature_c.first);
    add(device + "_temperature_max_c", temperature_c.most);
  }

  Summary take() { return std::move(lines_); }

 private:
  Summary lines_;
};

/// `power_cap 92 %, sw_thermal 3 %`, or `none`.
std::string throttling(const GpuState& gpu) {
  std::string text;
  for (const auto& [reason, reads] : gpu.throttled)
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", reason,
                        100.0 * static_cast<double>(reads) / static_cast<double>(gpu.reads));
  return text.empty() ? "none" : text;
}

}  // namespace

Summary machine_summary(const MachineState& machine) {
  Lines lines;
  const CpuState& cpu = machine.cpu;
  if (cpu.cpus > 0)
    lines.add("machine_cpus", cpu.cpus);
  lines.add("machine_load", cpu.load);
  lines.add("machine_other_cpus", cpu.other_cpus);
  lines.add("machine_governor", cpu.governor);
  lines.add_clock("machine_cpu", cpu.clock_mhz);
  lines.add_temperature("machine_cpu", cpu.temperature_c);
  lines.add("machine_cpu_throttled", cpu.throttled);
  if (machine.gpu) {
    if (machine.gpu->power_limit_w.count > 0)
      lines.add("machine_gpu_power_limit_w", machine.gpu->power_limit_w.least);
    lines.add_clock("machine_gpu", machine.gpu->clock_mhz);
    lines.add_temperature("machine_gpu", machine.gpu->temperature_c);
    if (machine.gpu->reads > 0)
      lines.add("machine_gpu_throttle", throttling(*machine.gpu));
  }
  lines.add("machine_disturbance", disturbance(machine));
  return lines.take();
}

namespace {

/// Counter and integral that differ by more than this over this time deserve a warning.
constexpr double suspicious_percent = 5;
constexpr double suspicious_from_s = 5;

/// The sum over the channels that are meant, if there are any and all have a value.
template <class IsMeant, class Get>
auto sum_over(const std::vector<ChannelEnergy>& channels, IsMeant is_meant, Get get) {
  std::remove_cvref_t<std::invoke_result_t<Get, const ChannelEnergy&>> sum;
  for (const ChannelEnergy& channel : channels) {
    if (!is_meant(channel.channel))
      continue;
    const auto value = std::invoke(get, channel);
    if (!value)
      return decltype(sum)();
    if (sum)
      *sum += *value;
    else
      sum = value;
  }
  return sum;
}

bool is_additive(const Channel& channel) {
  return channel.additive;
}

/// Of one device the highest sample of any, and the mean of their mean powers; of all together the
/// energy and the powers. Nothing without a device, or if one of them is not known.
Summary device_summary(const Measurement& measurement) {
  const auto sum = [&](std::optional<double> ChannelEnergy::*member) {
    return sum_over(measurement.channels, is_own_device, member);
  };
  double devices = 0;
  std::optional<double> highest_w;
  for (const ChannelEnergy& channel : measurement.channels)
    if (is_own_device(channel.channel)) {
      ++devices;
      highest_w = std::max(highest_w, channel.power_max_w);
    }
  const auto mean_w = sum(&ChannelEnergy::power_mean_w);
  const auto sum_of_max_w = sum(&ChannelEnergy::power_max_w);
  Lines lines;
  if (sum_of_max_w)  // a counter alone has a mean and no maximum
    lines.add("power_device_max_w", highest_w);
  if (mean_w)
    lines.add("power_device_mean_w", *mean_w / devices);
  lines.add("power_devices_mean_w", mean_w);
  lines.add("power_devices_max_w", sum_of_max_w);
  const auto energy_j = sum(&ChannelEnergy::energy_j);
  if (!energy_j || !measurement.cut_short.empty())
    return lines.take();
  lines.add("energy_devices_wh", in_wh(energy_j));
  lines.add("energy_devices_counter_wh", in_wh(sum(&ChannelEnergy::energy_counter_j)));
  lines.add("energy_devices_integrated_wh", in_wh(sum(&ChannelEnergy::energy_integrated_j)));
  return lines.take();
}

bool measures_whole_node(const Channel& channel) {
  return channel.additive && (channel.scope == Scope::node || channel.scope == Scope::node_meter);
}

/// Of the node as a whole. Where its supplies have a meter each, the maximum is an upper bound.
Summary node_summary(const std::vector<ChannelEnergy>& channels) {
  const auto sum = [&](std::optional<double> ChannelEnergy::*member) {
    return sum_over(channels, measures_whole_node, member);
  };
  Lines lines;
  if (!sum(&ChannelEnergy::energy_j))
    return {};
  lines.add("power_node_mean_w", sum(&ChannelEnergy::power_mean_w));
  lines.add("power_node_max_w", sum(&ChannelEnergy::power_max_w));
  lines.add("power_node_apparent_mean_va", sum(&ChannelEnergy::apparent_mean_va));
  lines.add("power_node_apparent_max_va", sum(&ChannelEnergy::apparent_max_va));
  return lines.take();
}

std::string too_short(double shortest_run_s) {
  return fmt::format("for an energy within {:.0f} %: {}", most_uncertainty * 100,
                     at_least(shortest_run_s));
}

/// Of a run that has a total.
Measured measured_of(const Measurement& measurement, double power_mean_w) {
  Measured measured{.power_mean_w = power_mean_w};
  for (const ChannelEnergy& channel : measurement.channels) {
    if (!channel.channel.additive)
      continue;
    const bool whole = measures_whole_node(channel.channel);
    measured.nodes = whole ? 1 : measured.nodes;
    measured.parts = measured.parts || !whole;
    measured.longest_gap_s = std::max(measured.longest_gap_s, channel.longest_gap_s);
  }
  return measured;
}

/// Every reason there is for the lack of a total, in one line.
std::string reasons(const Measurement& measurement) {
  std::vector<std::string> all;
  if (!measurement.cut_short.empty())
    all.push_back(measurement.cut_short);
  for (const Absence& absence : measurement.absences)
    all.push_back(absence.source + ": " + absence.reason);
  bool any_additive = false;
  std::vector<std::string> shared;
  for (const ChannelEnergy& channel : measurement.channels) {
    if (channel.channel.shared)
      shared.push_back(channel.channel.name);
    any_additive = any_additive || channel.channel.additive;
    if (channel.channel.additive && !channel.absent.empty())
      all.push_back(channel.channel.name + ": " + channel.absent);
  }
  if (!measurement.channels.empty() && !any_additive)
    all.push_back(shared.empty() ? "no available channel counts towards the total"
                                 : "includes other programs on the node: " + join(shared, ", "));
  return replace_all(join(all, "; "), "\n", " ");
}

/// Says for how long the meter did not run; empty if it always ran.
std::string pause(const Measurement& measurement) {
  return measurement.paused_s > 0
             ? fmt::format("the meter did not run for {:.3g} s", measurement.paused_s)
             : "";
}

/// Devices of which the program has only a part, so that no sum has them; empty without any.
std::string partly_owned(const Measurement& measurement) {
  std::vector<std::string> names;
  for (const ChannelEnergy& channel : measurement.channels)
    if (channel.channel.partly_owned && may_be_added(channel.channel.scope))
      names.push_back(channel.channel.name);
  if (names.empty())
    return "";
  return fmt::format("{} {} more than the program's part of the device", join(names, ", "),
                     names.size() == 1 ? "measures" : "measure");
}

/// The sources of the total, in the order of their channels.
std::string sources_of(const Measurement& measurement) {
  std::vector<std::string> names;
  for (const ChannelEnergy& channel : measurement.channels)
    if (const std::string name(source_of(channel.channel));
        channel.channel.additive && std::ranges::count(names, name) == 0)
      names.push_back(name);
  return join(names, ",");
}

}  // namespace

std::optional<double> net_energy_j(std::optional<double> energy_j,
                                   std::optional<double> power_idle_w,
                                   const Measurement& measurement) {
  if (!energy_j || !power_idle_w)
    return std::nullopt;
  return *energy_j - *power_idle_w * measurement.duration_s;
}

std::optional<double> uncertainty_j(const ChannelEnergy& channel, const Measurement& measurement) {
  return channel.uncertainty
             ? std::optional(channel.uncertainty->half_width_j(measurement.duration_s))
             : std::nullopt;
}

std::optional<double> known_duration_s(const Measurement& measurement) {
  const bool unknown =
      measurement.end_is_unknown || (!measurement.recovered.empty() && measurement.duration_s <= 0);
  return unknown ? std::nullopt : std::optional(measurement.duration_s);
}

Total total_of(const Measurement& measurement) {
  Total total;
  const auto& channels = measurement.channels;
  const auto sum = [&](auto member) { return sum_over(channels, is_additive, member); };
  if (measurement.cut_short.empty())
    total.energy_j = sum(&ChannelEnergy::energy_j);
  total.energy_counter_j = sum(&ChannelEnergy::energy_counter_j);
  total.energy_integrated_j = sum(&ChannelEnergy::energy_integrated_j);
  if (!total.energy_j) {
    total.energy_counter_j.reset();
    total.energy_integrated_j.reset();
    const bool any = std::ranges::any_of(channels, [&](const ChannelEnergy& channel) {
      const bool showed_power = channel.power_max_w.value_or(0) > 0 &&
                                measurement.duration_s >= channel.channel.update_period_s;
      return channel.channel.additive && (channel.energy_j || channel.power_mean_w || showed_power);
    });
    total.quality = any ? "partial" : "none";
    total.absent = reasons(measurement);
    return total;
  }
  total.power_mean_w = *total.energy_j / measurement.duration_s;
  total.power_idle_w = sum(&ChannelEnergy::power_idle_w);
  if (const auto uncertainty = sum(&ChannelEnergy::uncertainty)) {
    total.uncertainty_j = uncertainty->half_width_j(measurement.duration_s);
    if (*total.uncertainty_j > most_uncertainty * *total.energy_j)
      total.too_short_s = uncertainty->shortest_run_s(*total.power_mean_w);
  }
  const bool estimated = std::ranges::any_of(channels, [](const ChannelEnergy& channel) {
    return channel.channel.additive && channel.channel.estimated;
  });
  // Of an estimate one need not know how it came about to doubt it.
  total.quality = estimated                        ? "estimated"
                  : !measurement.recovered.empty() ? "recovered"
                                                   : "measured";
  return total;
}

Summary summary(const Measurement& measurement) {
  const Total total = total_of(measurement);
  Lines lines;
  lines.add("energy_wh", in_wh(total.energy_j));
  lines.add("energy_uncertainty_wh", in_wh(total.uncertainty_j));
  lines.add("power_mean_w", total.power_mean_w);
  if (total.energy_j)
    lines.add("power_max_w", widened_to(total.power_mean_w, measurement.total_power).max_w);
  lines.add(device_summary(measurement));
  lines.add(node_summary(measurement.channels));
  lines.add("power_idle_w", total.power_idle_w);
  lines.add("energy_net_wh", in_wh(net_energy_j(total.energy_j, total.power_idle_w, measurement)));
  std::vector<std::string> names;
  for (const ChannelEnergy& channel : measurement.channels)
    names.push_back(channel.channel.name);
  names = distinct_identifiers(names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ChannelEnergy& channel = measurement.channels[i];
    lines.add(fmt::format("energy_{}_wh", names[i]), in_wh(channel.energy_j));
    lines.add(fmt::format("energy_{}_uncertainty_wh", names[i]),
              in_wh(uncertainty_j(channel, measurement)));
  }
  lines.add("duration_s", known_duration_s(measurement));
  lines.add(region_summary(measurement));
  lines.add(machine_summary(measurement.machine));
  lines.add("energy_source", sources_of(measurement));
  lines.add("energy_quality", total.quality);
  if (total.too_short_s)
    lines.add("energy_too_short", too_short(*total.too_short_s));
  if (total.quality == "measured")
    lines.add(methodology_summary(measured_of(measurement, *total.power_mean_w)));
  lines.add("energy_paused", pause(measurement));
  lines.add("energy_shared", partly_owned(measurement));
  lines.add("energy_recovered", measurement.recovered);
  lines.add("energy_absent", total.absent);
  return lines.take();
}

std::vector<std::string> warnings(const Measurement& measurement) {
  std::vector<std::string> lines;
  if (!measurement.recovered.empty())
    lines.push_back(measurement.recovered);
  if (!measurement.cut_short.empty())
    lines.push_back(measurement.cut_short);
  std::ranges::copy(measurement.warnings, std::back_inserter(lines));
  for (std::string line : {pause(measurement), partly_owned(measurement)})
    if (!line.empty())
      lines.push_back(std::move(line));
  if (const std::string reason = disturbance(measurement.machine); !reason.empty())
    lines.push_back("not quiet: " + reason);
  if (const Total total = total_of(measurement); total.too_short_s)
    lines.push_back("too short " + too_short(*total.too_short_s));
  std::ranges::copy(region_warnings(measurement), std::back_inserter(lines));
  for (const ChannelEnergy& channel : measurement.channels) {
    if (!channel.absent.empty() && channel.samples > 0 && channel.channel.additive)
      lines.push_back(fmt::format("{}: {}", channel.channel.name, channel.absent));
    if (!channel.power_lost.empty())
      lines.push_back(fmt::format("{}: {}; its energy is the counter's", channel.channel.name,
                                  channel.power_lost));
    if (!channel.missed_spikes.empty())
      lines.push_back(fmt::format("{}: {}", channel.channel.name, channel.missed_spikes));
    else if (!channel.distrust.empty())
      lines.push_back(fmt::format("{}: {}", channel.channel.name, channel.distrust));
    else if (channel.difference_percent &&
             std::abs(*channel.difference_percent) > suspicious_percent &&
             measurement.duration_s >= suspicious_from_s)
      lines.push_back(fmt::format("{}: the counter differs from the integrated power by {:+.1f} %",
                                  channel.channel.name, *channel.difference_percent));
  }
  return lines;
}

namespace {

/// Nothing where both marks came in one moment, as when a program writes them faster than they are
/// read.
std::optional<double> duration_s(const RegionTime& time) {
  return time.duration_s > 0 ? std::optional(time.duration_s) : std::nullopt;
}

/// Whether the channel shows no energy in a region that took its time: a counter that did not move.
bool stood_still(const ChannelEnergy& channel, std::size_t region) {
  return region < channel.regions.size() && channel.regions[region].energy_j &&
         *channel.regions[region].energy_j <= 0;
}

std::optional<double> region_j(const Measurement& measurement, const ChannelEnergy& channel,
                               std::size_t region) {
  const bool known = region < channel.regions.size() && !stood_still(channel, region) &&
                     duration_s(measurement.regions[region]);
  return known ? channel.regions[region].energy_j : std::nullopt;
}

std::optional<double> mean_power_w(std::optional<double> joules, const RegionTime& time) {
  return joules ? std::optional(*joules / time.duration_s) : std::nullopt;
}

std::vector<std::string> identifiers(const Measurement& measurement) {
  std::vector<std::string> names;
  for (const RegionTime& time : measurement.regions)
    names.push_back(time.name);
  return distinct_identifiers(names);
}

std::string quoted(const RegionTime& time) {
  return fmt::format("'{}'", one_line(to_valid_utf8(time.name)));
}

/// Why the region has no energy; empty where it has, or where the whole run has none.
std::string reason(const Measurement& measurement, std::size_t region) {
  if (!duration_s(measurement.regions[region]))
    return "begin and end came in one moment (begin@NS and end@NS would tell their times)";
  for (const ChannelEnergy& channel : measurement.channels) {
    if (!channel.channel.additive || region >= channel.regions.size())
      continue;
    if (stood_still(channel, region))
      return "too short for a counter to move";
    if (!channel.regions[region].absent.empty())
      return fmt::format("{}: {}", channel.channel.name, channel.regions[region].absent);
  }
  return "";
}

/// Over the channels that are meant, if there are any and all have a value.
template <class IsMeant>
std::optional<double> sum_j(const Measurement& measurement, std::size_t region, IsMeant is_meant) {
  return sum_over(measurement.channels, is_meant, [&](const ChannelEnergy& channel) {
    return region_j(measurement, channel, region);
  });
}

std::optional<double> region_uncertainty_j(const Measurement& measurement, std::size_t region) {
  return sum_over(measurement.channels, is_additive, [&](const ChannelEnergy& channel) {
    return region_j(measurement, channel, region) ? channel.regions[region].uncertainty_j
                                                  : std::nullopt;
  });
}

/// Nothing unless every additive channel has a value: never zero, which is what a region shows
/// whose marks came in one moment, and a counter that did not move in it.
std::optional<double> region_energy_j(const Measurement& measurement, std::size_t region) {
  return sum_j(measurement, region, is_additive);
}

}  // namespace

Summary region_summary(const Measurement& measurement) {
  Lines lines;
  const std::vector<std::string> names = identifiers(measurement);
  for (std::size_t k = 0; k < measurement.regions.size(); ++k) {
    const RegionTime& time = measurement.regions[k];
    const std::string& name = names[k];
    const auto joules = region_energy_j(measurement, k);
    lines.add(fmt::format("energy_region_{}_wh", name), in_wh(joules));
    lines.add(fmt::format("energy_region_{}_uncertainty_wh", name),
              in_wh(region_uncertainty_j(measurement, k)));
    lines.add(fmt::format("energy_devices_region_{}_wh", name),
              in_wh(sum_j(measurement, k, is_own_device)));
    if (!joules)
      lines.add(fmt::format("energy_region_{}_absent", name), reason(measurement, k));
    lines.add(fmt::format("power_region_{}_w", name), mean_power_w(joules, time));
    lines.add(fmt::format("duration_region_{}_s", name), duration_s(time));
  }
  return lines.take();
}

std::vector<std::string> region_warnings(const Measurement& measurement) {
  std::vector<std::string> lines;
  std::vector<std::string> reasons;
  std::map<std::string, std::vector<std::size_t>> regions;  // by reason
  for (std::size_t k = 0; k < measurement.regions.size(); ++k)
    if (const std::string why = reason(measurement, k); !why.empty()) {
      if (!regions.contains(why))
        reasons.push_back(why);
      regions[why].push_back(k);
    }
  for (const std::string& why : reasons) {
    const std::vector<std::size_t>& without = regions[why];
    lines.push_back(fmt::format("{} {} no energy: {}: {}{}", without.size(),
                                without.size() == 1 ? "region has" : "regions have", why,
                                quoted(measurement.regions[without[0]]),
                                without.size() == 1 ? "" : " ..."));
  }
  const std::vector<std::string> names = identifiers(measurement);
  for (std::size_t k = 0; k < names.size(); ++k)
    if (names[k] != as_identifier(measurement.regions[k].name)) {
      lines.push_back(fmt::format("regions have the same name as identifiers: {} becomes {}",
                                  quoted(measurement.regions[k]), names[k]));
      break;
    }
  return lines;
}

std::string render_regions_csv(const Measurement& measurement) {
  std::vector<std::string> header{
      "region", "count", "duration_s", "energy_wh", "energy_uncertainty_wh", "power_mean_w"};
  for (const ChannelEnergy& channel : measurement.channels)
    header.push_back("energy_" + channel.channel.name + "_wh");
  std::string text = csv_line(header);
  for (std::size_t k = 0; k < measurement.regions.size(); ++k) {
    const RegionTime& time = measurement.regions[k];
    const auto joules = region_energy_j(measurement, k);
    std::vector<std::string> cells{time.name,
                                   std::to_string(time.count),
                                   text_of(duration_s(time)),
                                   text_of(in_wh(joules)),
                                   text_of(in_wh(region_uncertainty_j(measurement, k))),
                                   text_of(mean_power_w(joules, time))};
    for (const ChannelEnergy& channel : measurement.channels)
      cells.push_back(text_of(in_wh(region_j(measurement, channel, k))));
    text += csv_line(cells);
  }
  return text;
}

std::string render_region_times_csv(const Measurement& measurement) {
  std::vector<std::pair<RegionStay, std::string>> stays;
  for (const RegionTime& region : measurement.regions)
    for (const RegionStay& stay : region.first_stays)
      stays.emplace_back(stay, region.name);
  std::ranges::stable_sort(stays, {}, [](const auto& one) { return one.first.begin_s; });
  std::string text = csv_line(std::vector<std::string>{"region", "begin_s", "end_s"});
  for (const auto& [stay, name] : stays)
    text += csv_line(std::vector<std::string>{name, fmt::format("{:.6f}", stay.begin_s),
                                              fmt::format("{:.6f}", stay.end_s)});
  return text;
}

namespace {

/// Columns as wide as their longest cell.
std::string aligned(const std::vector<std::array<std::string, 4>>& rows) {
  std::array<std::size_t, 4> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i]));
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += row[i] + std::string(widths[i] - display_width(row[i]) + 2, ' ');
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string source_table(const Sources& sources) {
  std::vector<std::array<std::string, 4>> rows{{"channel", "added", "part of", "what"}};
  for (const Channel& channel : sources.channels)
    rows.push_back({channel.name,
                    !channel.additive            ? "no"
                    : channel.unreadable.empty() ? "yes"
                                                 : "unreadable",
                    channel.parent.empty() ? "-" : channel.parent, channel.description});
  std::string text = sources.channels.empty() ? "no power source on this node\n" : aligned(rows);
  for (const Absence& absence : sources.absences)
    text += fmt::format("absent: {}: {}\n", absence.source, absence.reason);
  for (const std::string& note : sources.notes)
    text += fmt::format("note: {}\n", note);
  return text;
}

}  // namespace bench::energy
