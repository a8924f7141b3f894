#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/csv.hpp>
#include <bench/energy/program/region_table.hpp>
#include <bench/energy/program/report.hpp>

namespace bench::energy {
namespace {

std::string text_of(std::optional<double> value) {
  return value ? fmt::format("{:.7g}", *value) : "";
}

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

std::optional<double> in_wh(std::optional<double> joules) {
  return joules ? std::optional(*joules / joules_per_wh) : std::nullopt;
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

/// Over the channels for which a condition holds, if there are any and all have a value.
template <typename Condition>
std::optional<double> sum_j(const Measurement& measurement, std::size_t region,
                            Condition condition) {
  std::optional<double> sum;
  for (const ChannelEnergy& channel : measurement.channels) {
    if (!condition(channel.channel))
      continue;
    const auto of_channel_j = region_j(measurement, channel, region);
    if (!of_channel_j)
      return std::nullopt;
    sum = sum.value_or(0) + *of_channel_j;
  }
  return sum;
}

}  // namespace

std::optional<double> region_energy_j(const Measurement& measurement, std::size_t region) {
  return sum_j(measurement, region, [](const Channel& channel) { return channel.additive; });
}

std::optional<double> region_uncertainty_j(const Measurement& measurement, std::size_t region) {
  std::optional<double> sum_j;
  for (const ChannelEnergy& channel : measurement.channels) {
    if (!channel.channel.additive)
      continue;
    if (!region_j(measurement, channel, region) || !channel.regions[region].uncertainty_j)
      return std::nullopt;
    sum_j = sum_j.value_or(0) + *channel.regions[region].uncertainty_j;
  }
  return sum_j;
}

std::vector<NameValue> region_summary(const Measurement& measurement) {
  std::vector<NameValue> lines;
  const auto add = [&](const std::string& name, std::optional<double> value) {
    if (value)
      lines.emplace_back(name, text_of(value));
  };
  const std::vector<std::string> names = identifiers(measurement);
  for (std::size_t k = 0; k < measurement.regions.size(); ++k) {
    const RegionTime& time = measurement.regions[k];
    const std::string& name = names[k];
    const auto joules = region_energy_j(measurement, k);
    add(fmt::format("energy_region_{}_wh", name), in_wh(joules));
    add(fmt::format("energy_region_{}_uncertainty_wh", name),
        in_wh(region_uncertainty_j(measurement, k)));
    add(fmt::format("energy_devices_region_{}_wh", name),
        in_wh(sum_j(measurement, k, is_own_device)));
    if (const std::string why = joules ? "" : reason(measurement, k); !why.empty())
      lines.emplace_back(fmt::format("energy_region_{}_absent", name), why);
    add(fmt::format("power_region_{}_w", name), mean_power_w(joules, time));
    add(fmt::format("duration_region_{}_s", name), duration_s(time));
  }
  return lines;
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

}  // namespace bench::energy
