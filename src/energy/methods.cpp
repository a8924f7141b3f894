#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <span>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/additive.hpp>
#include <bench/energy/amd_smi.hpp>
#include <bench/energy/amdgpu.hpp>
#include <bench/energy/cpu_model.hpp>
#include <bench/energy/hwmon.hpp>
#include <bench/energy/methods.hpp>
#include <bench/energy/mock.hpp>
#include <bench/energy/nvml.hpp>
#include <bench/energy/rapl.hpp>
#include <bench/energy/rocm_smi.hpp>

namespace bench::energy {
namespace {

/// `cpu=65W`: the watts.
double cpu_power_w(const std::string& argument) {
  constexpr std::string_view key = "cpu=";
  if (!argument.starts_with(key))
    throw Error(fmt::format("unknown model '{}'", argument), "model:cpu=65W");
  return parse_power_w(argument.substr(key.size()));
}

struct Entry {
  std::string_view name;
  bool automatic;  ///< Part of `auto`.
  std::function<std::unique_ptr<PowerSource>(const std::string&, const SourceSettings&)> open;
  /// In `auto` not asked where an earlier source measures AMD GPUs: it reads the same, at more
  /// cost.
  bool only_without_amd = false;
};

/// Every source there is; of two that measure one device the first is added. The libraries of
/// vendors last, since their start may take seconds.
const std::array<Entry, 8>& registry() {
  static const std::array<Entry, 8> entries{{
      {"rapl", true,
       [](const std::string&, const SourceSettings& s) { return open_rapl(s.sysfs_root); }},
      {"amdgpu", true,
       [](const std::string&, const SourceSettings& s) {
         return open_amdgpu(s.sysfs_root, amd_visibility(s.sysfs_root));
       }},
      {"hwmon", true,
       [](const std::string&, const SourceSettings& s) { return open_hwmon(s.sysfs_root); }},
      {"model", false,
       [](const std::string& argument, const SourceSettings&) {
         return open_cpu_model(cpu_power_w(argument));
       }},
      {"mock", false,
       [](const std::string& argument, const SourceSettings&) { return open_mock(argument); }},
      {"rocm", true,
       [](const std::string&, const SourceSettings& s) {
         return open_rocm_smi(rocm_smi_libraries(), amd_visibility(s.sysfs_root));
       },
       true},
      {"amdsmi", true,
       [](const std::string&, const SourceSettings& s) {
         return open_amd_smi(amd_smi_libraries(), s.sysfs_root, amd_visibility(s.sysfs_root));
       },
       true},
      {"nvml", true,
       [](const std::string&, const SourceSettings&) {
         NvmlSettings settings;
         settings.visible_devices = visible_devices_of_environment();
         return open_nvml(settings);
       }},
  }};
  return entries;
}

const Entry& entry_of(const std::string& name) {
  for (const Entry& entry : registry())
    if (entry.name == name)
      return entry;
  std::vector<std::string> known{"auto"};
  for (const Entry& entry : registry())
    known.emplace_back(entry.name);
  throw Error(fmt::format("unknown method '{}'", name), suggestion(name, known, "known are "));
}

Method parse_method(const std::string& text) {
  const auto colon = text.find(':');
  Method method{text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
  const bool wants_argument = !entry_of(method.name).automatic;
  if (wants_argument && method.argument.empty())
    throw Error(fmt::format("method '{}' needs an argument", method.name),
                "for example model:cpu=65W or mock:constant=100W");
  if (!wants_argument && colon != std::string::npos)
    throw Error(fmt::format("method '{}' takes no argument", method.name));
  if (method.name == "model")
    cpu_power_w(method.argument);
  if (method.name == "mock")
    open_mock(method.argument);
  return method;
}

bool measures_amd_gpus(const PowerSource& source) {
  const std::string_view name = source_of(source.channels().front());
  return name == "amdgpu" || name == "rocm";
}

struct Unit {
  std::string_view name;
  double factor;
};

double parse_quantity(const std::string& text, std::span<const Unit> units, const char* example) {
  for (const Unit& unit : units) {
    const std::string_view stripped = strip(text);
    if (!stripped.ends_with(unit.name))
      continue;
    const auto number = parse_number(strip(stripped.substr(0, stripped.size() - unit.name.size())));
    if (number && *number >= 0)
      return *number * unit.factor;
  }
  throw Error(fmt::format("'{}' is no number with a unit", text),
              fmt::format("write it like {}", example));
}

}  // namespace

SourceSettings parse_methods(const std::vector<std::string>& texts) {
  SourceSettings settings;
  for (const std::string& text : texts)
    for (const std::string& name : split_names(text))
      if (name == "auto")
        settings.automatic = true;
      else if (const Method method = parse_method(name);
               std::ranges::count(settings.methods, method) == 0)
        settings.methods.push_back(method);
  if (settings.methods.empty())
    settings.automatic = true;
  settings.named = settings.methods.size();
  if (settings.automatic)
    for (const Entry& entry : registry())
      if (const Method method{std::string(entry.name), ""};
          entry.automatic && std::ranges::count(settings.methods, method) == 0)
        settings.methods.push_back(method);
  return settings;
}

std::unique_ptr<PowerSource> open_source(const Method& method, const SourceSettings& settings) {
  return entry_of(method.name).open(method.argument, settings);
}

Sources open_sources(const SourceSettings& settings) {
  Sources sources;
  for (std::size_t i = 0; i < settings.methods.size(); ++i) {
    const Method& method = settings.methods[i];
    if (i >= settings.named && entry_of(method.name).only_without_amd &&
        std::ranges::any_of(sources.opened,
                            [](const auto& source) { return measures_amd_gpus(*source); }))
      continue;
    try {
      sources.opened.push_back(open_source(method, settings));
    } catch (const Error& absent) {
      sources.absences.push_back({method.name, absent.message()});
      continue;
    }
    const PowerSource& source = *sources.opened.back();
    std::ranges::copy(source.channels(), std::back_inserter(sources.channels));
    std::ranges::copy(source.notes(), std::back_inserter(sources.notes));
  }
  mark_additive(sources.channels);
  return sources;
}

double parse_power_w(const std::string& text) {
  static constexpr std::array units{Unit{"kW", 1e3}, Unit{"W", 1}};
  return parse_quantity(text, units, "100W");
}

double parse_interval_s(const std::string& text) {
  static constexpr std::array units{Unit{"us", 1e-6}, Unit{"ms", 1e-3}, Unit{"min", 60},
                                    Unit{"s", 1}};
  return parse_quantity(text, units, "100ms");
}

}  // namespace bench::energy
