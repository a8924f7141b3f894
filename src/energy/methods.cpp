#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <span>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/additive.hpp>
#include <bench/energy/amd_smi.hpp>
#include <bench/energy/amdgpu.hpp>
#include <bench/energy/command_source.hpp>
#include <bench/energy/gcipu.hpp>
#include <bench/energy/hwmon.hpp>
#include <bench/energy/methods.hpp>
#include <bench/energy/mock.hpp>
#include <bench/energy/model.hpp>
#include <bench/energy/nvml.hpp>
#include <bench/energy/pm_counters.hpp>
#include <bench/energy/rapl.hpp>
#include <bench/energy/rocm_smi.hpp>
#include <bench/energy/slurm_counter.hpp>

namespace bench::energy {
namespace {

struct Entry {
  std::string_view name;
  bool automatic;  ///< Part of `auto`.
  std::function<std::unique_ptr<PowerSource>(const std::string&, const SourceSettings&)> open;
  bool has_devices = false;  ///< Each process may see others.
};

NvmlSettings nvml_settings() {
  NvmlSettings settings;
  settings.visible_devices = visible_devices_of_environment();
  settings.job_devices = job_devices_of_environment();
  return settings;
}

std::unique_ptr<PowerSource> open_amdgpu_files(const std::string&, const SourceSettings& s) {
  return open_amdgpu(s.sysfs_root, amd_visibility(s.sysfs_root));
}

std::unique_ptr<PowerSource> open_rocm(const std::string&, const SourceSettings& s) {
  return open_rocm_smi(rocm_smi_libraries(), amd_visibility(s.sysfs_root));
}

std::unique_ptr<PowerSource> open_amdsmi(const std::string&, const SourceSettings& s) {
  return open_amd_smi(amd_smi_libraries(), s.sysfs_root, amd_visibility(s.sysfs_root));
}

/// All read the same of a GPU, each at more cost than the one before: the first that works.
std::unique_ptr<PowerSource> open_amd(const std::string& argument, const SourceSettings& s) {
  std::vector<std::string> reasons;
  for (const auto open : {open_amdgpu_files, open_rocm, open_amdsmi}) {
    try {
      return open(argument, s);
    } catch (const Error& absent) {
      reasons.push_back(absent.message());
    }
  }
  throw Error(join(reasons, "; "));
}

/// Every source there is; of two that measure one device the first is added. The cheap ones first,
/// the libraries of vendors last, since their start may take seconds.
const std::vector<Entry>& registry() {
  static const std::vector<Entry> entries{
      {"pm_counters", true,
       [](const std::string&, const SourceSettings& s) { return open_pm_counters(s.sysfs_root); }},
      {"rapl", true,
       [](const std::string&, const SourceSettings& s) { return open_rapl(s.sysfs_root); }},
      {"amd", true, open_amd, true},
      {"hwmon", true,
       [](const std::string&, const SourceSettings& s) { return open_hwmon(s.sysfs_root); }},
      {"model", false,
       [](const std::string& argument, const SourceSettings&) {
         return open_model(parse_model(argument), nvml_settings());
       }},
      {"mock", false,
       [](const std::string& argument, const SourceSettings&) { return open_mock(argument); }},
      {"command", false,
       [](const std::string& argument, const SourceSettings&) {
         return open_command(parse_meter_command(argument));
       }},
      {"amdgpu", false, open_amdgpu_files, true},
      {"rocm", false, open_rocm, true},
      {"amdsmi", false, open_amdsmi, true},
      {"ipmi", false, [](const std::string&, const SourceSettings&) { return open_ipmi(); }},
      {"slurm", false,
       [](const std::string&, const SourceSettings&) {
         return open_slurm_counter(slurm_step_of_environment());
       }},
      {"gcipu", false, [](const std::string&, const SourceSettings&) { return open_gcipu(); },
       true},
      {"nvml", true,
       [](const std::string&, const SourceSettings&) { return open_nvml(nvml_settings()); }, true},
  };
  return entries;
}

const Entry& entry_of(const std::string& name, std::span<const std::string> other_names = {}) {
  for (const Entry& entry : registry())
    if (entry.name == name)
      return entry;
  std::vector<std::string> known{"auto"};
  for (const Entry& entry : registry())
    known.emplace_back(entry.name);
  known.insert(known.end(), other_names.begin(), other_names.end());
  throw Error(fmt::format("unknown method '{}'", name), suggestion(name, known, "known are "));
}

Method parse_method(const std::string& text, std::span<const std::string> other_names) {
  const auto colon = text.find(':');
  Method method{text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
  const std::string_view name = entry_of(method.name, other_names).name;
  const bool wants_argument = name == "model" || name == "mock" || name == "command";
  if (wants_argument && method.argument.empty())
    throw Error(fmt::format("method '{}' needs an argument", method.name),
                "for example model:cpu=65W, mock:constant=100W or command:pdu=node-watts");
  if (!wants_argument && colon != std::string::npos)
    throw Error(fmt::format("method '{}' takes no argument", method.name));
  if (method.name == "model")
    parse_model(method.argument);
  if (method.name == "command")
    parse_meter_command(method.argument);
  if (method.name == "mock")
    open_mock(method.argument);
  return method;
}

/// The methods in one text, between commas; those of a command's own belong to it.
std::vector<std::string> split_methods(const std::string& text) {
  constexpr std::string_view command = "command:";
  std::size_t begin = 0;
  while (begin < text.size() && !strip(std::string_view(text).substr(begin)).starts_with(command))
    if (const auto comma = text.find(',', begin); comma != std::string::npos)
      begin = comma + 1;
    else
      begin = text.size();
  std::vector<std::string> names = split_names(text.substr(0, begin));
  if (begin < text.size())
    names.emplace_back(strip(std::string_view(text).substr(begin)));
  return names;
}

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array units_of_power{Unit{"kW", 1e3}, Unit{"W", 1}};
constexpr std::array units_of_time{Unit{"us", 1e-6}, Unit{"ms", 1e-3}, Unit{"min", 60},
                                   Unit{"s", 1}};

std::optional<double> quantity(const std::string& text, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    const std::string_view stripped = strip(text);
    if (!stripped.ends_with(unit.name))
      continue;
    const auto number = parse_number(strip(stripped.substr(0, stripped.size() - unit.name.size())));
    if (number)
      return *number * unit.factor;
  }
  return std::nullopt;
}

double parse_quantity(const std::string& text, std::span<const Unit> units, const char* example) {
  const auto value = quantity(text, units);
  if (value && *value >= 0)
    return *value;
  throw Error(fmt::format("'{}' is {}", text, value ? "below zero" : "no number with a unit"),
              fmt::format("write it like {}", example));
}

/// What tells a source apart from one of the same method that shows other devices.
std::string devices_of(const PowerSource& source) {
  std::vector<std::string> devices;
  for (const Channel& channel : source.channels())
    devices.push_back(channel.device_id.empty() ? channel.name : channel.device_id);
  std::ranges::sort(devices);
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return join(devices, " ");
}

}  // namespace

SourceSettings parse_methods(const std::vector<std::string>& texts,
                             std::span<const std::string> other_names) {
  SourceSettings settings;
  for (const std::string& text : texts)
    for (const std::string& name : split_methods(text))
      if (name == "auto")
        settings.automatic = true;
      else if (const Method method = parse_method(name, other_names);
               std::ranges::count(settings.methods, method) == 0)
        settings.methods.push_back(method);
  if (settings.methods.empty())
    settings.automatic = true;
  if (settings.automatic)
    for (const Entry& entry : registry())
      if (const Method method{std::string(entry.name), ""};
          entry.automatic && std::ranges::count(settings.methods, method) == 0)
        settings.methods.push_back(method);
  return settings;
}

void check_methods(const std::string& text, const Place& place) {
  try {
    parse_methods({text});
  } catch (const Error& wrong) {  // the sources know their arguments, and no input files
    throw Error(wrong.message(), wrong.hint(), place);
  }
}

std::string label_of(const Method& method) {
  return method.argument.empty()
             ? method.name
             : method.name + ":" + method.argument.substr(0, method.argument.find('='));
}

std::unique_ptr<PowerSource> claim_source(const Method& method, const SourceSettings& settings) {
  if (!settings.claims)
    return open_source(method, settings);
  Claims& claims = *settings.claims;
  if (entry_of(method.name).has_devices) {
    auto source = open_source(method, settings);
    return claims.take(method.name + ":" + devices_of(*source)) ? std::move(source) : nullptr;
  }
  if (!claims.take(label_of(method)))
    return nullptr;
  return open_source(method, settings);
}

std::unique_ptr<PowerSource> open_source(const Method& method, const SourceSettings& settings) {
  return entry_of(method.name).open(method.argument, settings);
}

Sources open_sources(const SourceSettings& settings) {
  Sources sources;
  for (const Method& method : settings.methods) {
    try {
      sources.opened.push_back(open_source(method, settings));
    } catch (const Error& absent) {
      sources.absences.push_back({label_of(method), absent.message()});
      continue;
    }
    const PowerSource& source = *sources.opened.back();
    std::ranges::copy(source.channels(), std::back_inserter(sources.channels));
    std::ranges::copy(source.notes(), std::back_inserter(sources.notes));
  }
  mark_additive(sources.channels, settings.owned);
  return sources;
}

double parse_power_w(const std::string& text) {
  return parse_quantity(text, units_of_power, "100W");
}

double parse_interval_s(const std::string& text) {
  return parse_quantity(text, units_of_time, "100ms");
}

std::optional<double> interval_s_of(const std::string& text) {
  return quantity(text, units_of_time);
}

}  // namespace bench::energy
