#include <fmt/core.h>

#include <bench/energy/csv.hpp>
#include <bench/energy/region_table.hpp>

namespace bench::energy {
namespace {

std::string text_of(std::optional<double> value) {
  return value ? fmt::format("{:.7g}", *value) : "";
}

std::optional<double> region_j(const ChannelEnergy& channel, std::size_t region) {
  return region < channel.regions.size() ? channel.regions[region].energy_j : std::nullopt;
}

std::optional<double> in_wh(std::optional<double> joules) {
  return joules ? std::optional(*joules / joules_per_wh) : std::nullopt;
}

std::optional<double> mean_power_w(std::optional<double> joules, const RegionTime& time) {
  return joules && time.duration_s > 0 ? std::optional(*joules / time.duration_s) : std::nullopt;
}

}  // namespace

std::optional<double> region_energy_j(const Measurement& measurement, std::size_t region) {
  std::optional<double> sum_j;
  for (const ChannelEnergy& channel : measurement.channels) {
    if (!channel.channel.additive)
      continue;
    const auto of_channel_j = region_j(channel, region);
    if (!of_channel_j)
      return std::nullopt;
    sum_j = sum_j.value_or(0) + *of_channel_j;
  }
  return sum_j;
}

std::vector<NameValue> region_summary(const Measurement& measurement) {
  std::vector<NameValue> lines;
  const auto add = [&](const std::string& name, std::optional<double> value) {
    if (value)
      lines.emplace_back(name, text_of(value));
  };
  for (std::size_t k = 0; k < measurement.regions.size(); ++k) {
    const RegionTime& time = measurement.regions[k];
    const std::string name = as_identifier(time.name);
    const auto joules = region_energy_j(measurement, k);
    add(fmt::format("energy_region_{}_wh", name), in_wh(joules));
    add(fmt::format("power_region_{}_w", name), mean_power_w(joules, time));
    add(fmt::format("duration_region_{}_s", name), time.duration_s);
  }
  return lines;
}

std::string render_regions_csv(const Measurement& measurement) {
  std::vector<std::string> header{"region", "count", "duration_s", "energy_wh", "power_mean_w"};
  for (const ChannelEnergy& channel : measurement.channels)
    header.push_back("energy_" + channel.channel.name + "_wh");
  std::string text = csv_line(header);
  for (std::size_t k = 0; k < measurement.regions.size(); ++k) {
    const RegionTime& time = measurement.regions[k];
    const auto joules = region_energy_j(measurement, k);
    std::vector<std::string> cells{time.name, std::to_string(time.count), text_of(time.duration_s),
                                   text_of(in_wh(joules)), text_of(mean_power_w(joules, time))};
    for (const ChannelEnergy& channel : measurement.channels)
      cells.push_back(text_of(in_wh(region_j(channel, k))));
    text += csv_line(cells);
  }
  return text;
}

}  // namespace bench::energy
