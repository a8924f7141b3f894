#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/program/csv.hpp>
#include <bench/energy/program/jpwr.hpp>

namespace bench::energy {
namespace {

/// A method by its name there and here, and the names of its sources.
struct Name {
  std::string_view jpwr;
  std::string_view own;
  std::array<std::string_view, 2> sources;
};
/// Those with numbered devices.
constexpr std::array device_sources{Name{"pynvml", "nvml", {"nvml"}},
                                    Name{"rocm", "amd", {"amdgpu", "amdsmi"}},
                                    Name{"gc", "gcipu", {"gcipu"}}};
constexpr Name meter_source{"gh", "hwmon", {"hwmon"}};

/// The number in `nvml:3:gpu`; in `amdgpu:0+1:gpu`, two dies with one meter, the first one. Not
/// that of `Channel::device`, which pairs channels: the IPUs of one board share theirs.
std::optional<int> number_of(const Channel& channel) {
  const std::string_view source = source_of(channel);
  const std::string_view rest =
      std::string_view(channel.name).substr(std::min(source.size() + 1, channel.name.size()));
  int number = 0;
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

std::string column_of(const Channel& channel) {
  const std::string_view source = source_of(channel);
  const auto number = number_of(channel);
  for (const Name& name : device_sources)
    if (std::ranges::count(name.sources, source) > 0 && number && channel.scope != Scope::board)
      return fmt::format("{}:{}", name.jpwr, *number);
  if (source == meter_source.own && !channel.label.empty())
    return fmt::format("{}:{}", meter_source.jpwr, channel.label);
  return channel.name;
}

std::string watt_hours_text(const std::optional<double>& energy_wh) {
  return energy_wh ? python_float(*energy_wh) : "";
}

/// One figure of every channel that jpwr has a column for.
template <typename Energy>
std::vector<JpwrEnergy> energies(std::span<const ChannelEnergy> measured, Energy energy_j) {
  std::vector<Channel> channels;
  for (const ChannelEnergy& one : measured)
    channels.push_back(one.channel);
  const std::vector<std::string> columns = jpwr_columns(channels);
  std::vector<JpwrEnergy> result;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (columns[i].empty())
      continue;
    result.push_back({columns[i], energy_j(measured[i])});
    if (auto& energy = result.back().energy_wh)
      *energy /= joules_per_wh;
  }
  return result;
}

}  // namespace

std::vector<std::string> methods_of_jpwr() {
  std::vector<std::string> names;
  for (const Name& known : device_sources)
    names.emplace_back(known.jpwr);
  names.emplace_back(meter_source.jpwr);
  return names;
}

std::string method_of_jpwr(const std::string& name) {
  for (const Name& known : device_sources)
    if (known.jpwr == name)
      return std::string(known.own);
  return name == meter_source.jpwr ? std::string(meter_source.own) : name;
}

std::vector<std::string> jpwr_columns(std::span<const Channel> channels) {
  std::vector<std::string> columns;
  for (const Channel& channel : channels) {
    std::string column = column_of(channel);
    if (std::ranges::count(columns, column) > 0)  // jpwr fails on two meters with one label
      column = source_of(channel) == meter_source.own ? channel.name : "";
    columns.push_back(column);
  }
  return columns;
}

Channel channel_of_jpwr(const std::string& column) {
  Channel channel;
  channel.name = column;
  const auto colon = column.find(':');
  if (colon == std::string::npos)
    return channel;
  const std::string source = column.substr(0, colon);
  const std::string device = column.substr(colon + 1);
  for (const Name& name : device_sources)
    if (const auto number = parse_integer(device); name.jpwr == source && number) {
      channel.scope = Scope::gpu;
      channel.device = static_cast<int>(*number);
    }
  if (source == meter_source.jpwr) {
    channel.scope = scope_of_label(device).value_or(Scope::other);
    channel.device = socket_of(device);
  }
  return channel;
}

std::vector<JpwrEnergy> jpwr_energy(std::span<const ChannelEnergy> channels) {
  return energies(channels, [](const ChannelEnergy& channel) {
    const bool whole_run = channel.energy_j.has_value();
    return whole_run && channel.energy_integrated_j ? channel.energy_integrated_j
                                                    : channel.energy_j;
  });
}

std::vector<JpwrEnergy> jpwr_energy_from_counter(std::span<const ChannelEnergy> channels) {
  auto all = energies(channels, [](const ChannelEnergy& channel) {
    return channel.energy_j ? channel.energy_counter_j : std::nullopt;
  });
  std::erase_if(all, [](const JpwrEnergy& energy) { return !energy.energy_wh; });
  return all;
}

std::string render_jpwr_energy(std::span<const JpwrEnergy> energies) {
  std::string text = ",0\n";
  for (const JpwrEnergy& energy : energies)
    text += csv_line(std::array{energy.column, watt_hours_text(energy.energy_wh)});
  return text;
}

std::string render_jpwr_energy_from_counter(std::span<const JpwrEnergy> energies) {
  std::vector<std::string> header{""};
  std::vector<std::string> row{"0"};
  for (const JpwrEnergy& energy : energies) {
    header.push_back(energy.column);
    row.push_back(watt_hours_text(energy.energy_wh));
  }
  return csv_line(header) + csv_line(row);
}

}  // namespace bench::energy
