#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/core/units.hpp>
#include <bench/energy/sources/command_reader.hpp>
#include <bench/energy/sources/command_source.hpp>
#include <bench/energy/sources/methods.hpp>

namespace bench::energy {
namespace {

/// How often the held value is read: it costs one read of a pipe.
constexpr double command_read_interval_s = 0.1;
constexpr double shortest_patience_s = 10;
constexpr double intervals_of_patience = 3;
constexpr double most_power = 1e9;  ///< No computing centre draws as much.
constexpr const char* command_syntax = "command:NAME=COMMAND or command:NAME/5s=COMMAND";

/// What precedes the colon in the lines of IPMI programs that say what is drawn now.
constexpr std::array<std::string_view, 2> ipmi_labels{"Instantaneous power reading",
                                                      "Current Power"};

struct PowerUnit {
  std::string_view name;
  double watts;
};
constexpr std::string_view apparent_unit = "VA";
constexpr std::array power_units{PowerUnit{"Watts", 1}, PowerUnit{"kW", 1000}, PowerUnit{"W", 1}};

bool is_meter_name(std::string_view text) {
  return std::ranges::all_of(
      text, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.'; });
}

std::string_view without_ipmi_label(std::string_view line) {
  const auto colon = line.find(':');
  if (colon != std::string_view::npos &&
      std::ranges::count(ipmi_labels, strip(line.substr(0, colon))) == 1)
    return strip(line.substr(colon + 1));
  return strip(line);
}

bool is_possible(std::optional<double> number, double factor = 1) {
  return number && *number > 0 && *number * factor < most_power;
}

std::optional<double> watts_in(std::string_view line) {
  std::string_view quantity = without_ipmi_label(line);
  double factor = 1;
  for (const PowerUnit& unit : power_units)
    if (quantity.ends_with(unit.name)) {
      quantity = strip(quantity.substr(0, quantity.size() - unit.name.size()));
      factor = unit.watts;
      break;
    }
  const auto number = parse_number(quantity);
  return is_possible(number, factor) ? std::optional(*number * factor) : std::nullopt;
}

class CommandSource : public PowerSource {
 public:
  CommandSource(const MeterCommand& command, Channel channel)
      : reader_({.arguments = command.arguments,
                 .interval_s = command.interval_s,
                 .patience_s =
                     std::max(shortest_patience_s, intervals_of_patience * command.interval_s),
                 .is_reading = [](std::string_view line) { return meter_line(line).has_value(); },
                 .expected = "watts above 0"}) {
    reader_.wait_for_first();
    channel.scope = Scope::node_meter;
    channel.averaging_window_s = command.interval_s;
    channel.update_period_s = command.interval_s;
    channels_.push_back(channel);
    shortest_interval_s_ = std::min(command_read_interval_s, command.interval_s);
  }

  void read(std::span<Reading> readings) override {
    const auto line = reader_.latest(readings[0].failure);
    if (const auto told = line ? meter_line(*line) : std::nullopt) {
      readings[0].power_w = told->power_w;
      readings[0].apparent_va = told->apparent_va;
    }
  }

 private:
  CommandReader reader_;
};

}  // namespace

MeterCommand parse_meter_command(const std::string& text) {
  const auto equals = text.find('=');
  const std::string front = text.substr(0, equals);
  const auto slash = front.find('/');
  MeterCommand command;
  command.name = front.substr(0, slash);
  if (equals == std::string::npos || strip(text.substr(equals + 1)).empty() || command.name.empty())
    throw Error(Id::invalid_value, fmt::format("'{}' names no command", text), command_syntax);
  if (!is_meter_name(command.name))
    throw Error(
        Id::invalid_value, fmt::format("'{}' is not a name for a command's meter", command.name),
        fmt::format("{}; a name has letters, digits, '_', '-' and '.' only", command_syntax));
  if (slash != std::string::npos)
    command.interval_s = parse_interval_s(front.substr(slash + 1));
  if (command.interval_s <= 0)
    throw Error(Id::invalid_value, fmt::format("'{}' leaves no time between readings", text),
                command_syntax);
  command.arguments = {"/bin/sh", "-c", text.substr(equals + 1)};
  return command;
}

std::optional<MeterLine> meter_line(std::string_view line) {
  constexpr std::string_view separators = " \t,;";
  std::string_view watts = strip(line);
  std::optional<double> apparent_va;
  if (watts.ends_with(apparent_unit)) {
    watts = strip(watts.substr(0, watts.size() - apparent_unit.size()));
    const auto end = watts.find_last_of(separators);
    if (end == std::string_view::npos)
      return std::nullopt;
    apparent_va = parse_number(watts.substr(end + 1));
    if (!is_possible(apparent_va))
      return std::nullopt;
    watts = watts.substr(0, watts.find_last_not_of(separators, end) + 1);
  }
  const auto power_w = watts_in(watts);
  return power_w ? std::optional(MeterLine{*power_w, apparent_va}) : std::nullopt;
}

std::unique_ptr<PowerSource> open_command(const MeterCommand& command) {
  return std::make_unique<CommandSource>(
      command, Channel{.name = "command:" + command.name,
                       .description = fmt::format("every {} s: {}", command.interval_s,
                                                  one_line(command.arguments.back()))});
}

std::unique_ptr<PowerSource> open_ipmi() {
  MeterCommand command;
  if (!find_program("ipmitool").empty())
    command.arguments = {"ipmitool", "dcmi", "power", "reading"};
  else if (!find_program("ipmi-dcmi").empty())
    command.arguments = {"ipmi-dcmi", "--get-system-power-statistics"};
  else
    throw Error(Id::no_meter, "neither ipmitool nor ipmi-dcmi is on PATH");
  return std::make_unique<CommandSource>(
      command, Channel{.name = "ipmi:node", .description = join(command.arguments, " ")});
}

extern const SourceMethod command_method{
    .name = "command",
    .open = [](const std::string& argument,
               const SourceSettings&) { return open_command(parse_meter_command(argument)); },
    .argument = "NAME[/INTERVAL]=COMMAND",
    .check = [](const std::string& argument) { parse_meter_command(argument); },
    .note = "(prints watts; takes the rest of the option)",
};

extern const SourceMethod ipmi_method{
    .name = "ipmi",
    .open = [](const std::string&, const SourceSettings&) { return open_ipmi(); },
};

}  // namespace bench::energy
