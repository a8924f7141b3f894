#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/power_source.hpp>
#include <bench/energy/sources/claims.hpp>
#include <bench/energy/sources/methods.hpp>

namespace bench::energy {
namespace {

// Every source there is, in a line each; of two that measure one device the first is added. The
// cheap ones first, the libraries of vendors last, since their start may take seconds.
// clang-format off
#define BENCH_SOURCE_METHODS(METHOD) \
  METHOD(pm_counters) \
  METHOD(rapl) \
  METHOD(amd) \
  METHOD(hwmon) \
  METHOD(model) \
  METHOD(mock) \
  METHOD(command) \
  METHOD(amdgpu) \
  METHOD(amdsmi) \
  METHOD(ipmi) \
  METHOD(slurm) \
  METHOD(gcipu) \
  METHOD(nvml)
// clang-format on

}  // namespace

#define BENCH_DECLARE(name) extern const SourceMethod name##_method;
BENCH_SOURCE_METHODS(BENCH_DECLARE)
#undef BENCH_DECLARE

namespace {

#define BENCH_ADDRESS(name) &name##_method,
constexpr std::array registry{BENCH_SOURCE_METHODS(BENCH_ADDRESS)};
#undef BENCH_ADDRESS

const SourceMethod& method_named(const std::string& name,
                                 std::span<const std::string> other_names = {}) {
  for (const SourceMethod* method : registry)
    if (name == method->name || (!name.empty() && name == method->other_name))
      return *method;
  std::vector<std::string> known{"auto"};
  for (const SourceMethod* method : registry)
    for (const std::string_view text : {method->name, method->other_name})
      if (!text.empty())
        known.emplace_back(text);
  known.insert(known.end(), other_names.begin(), other_names.end());
  throw Error(Id::invalid_value, fmt::format("unknown method '{}'", name),
              suggestion(name, known, "known are "));
}

Method parse_method(const std::string& text, std::span<const std::string> other_names) {
  const auto colon = text.find(':');
  Method method{text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
  const SourceMethod& kind = method_named(method.name, other_names);
  method.name = kind.name;
  if (kind.check && method.argument.empty())
    throw Error(Id::invalid_value, fmt::format("method '{}' needs an argument", method.name),
                fmt::format("write {}:{}", kind.name, kind.argument));
  if (!kind.check && colon != std::string::npos)
    throw Error(Id::invalid_value, fmt::format("method '{}' takes no argument", method.name));
  if (kind.check)
    kind.check(method.argument);
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
    for (const SourceMethod* kind : registry)
      if (const Method method{std::string(kind->name), ""};
          kind->automatic && std::ranges::count(settings.methods, method) == 0)
        settings.methods.push_back(method);
  return settings;
}

void check_methods(const std::string& text, const Place& place) {
  try {
    parse_methods({text});
  } catch (const Error& wrong) {  // the sources know their arguments, and no input files
    throw Error(wrong.id(), wrong.message(), wrong.hint(), place);
  }
}

std::string methods_help() {
  std::vector<std::string> automatic;
  std::vector<std::string> all;
  for (const SourceMethod* method : registry) {
    if (method->automatic)
      automatic.emplace_back(method->name);
    all.push_back(fmt::format("{}{}{}{}{}", method->name, method->argument.empty() ? "" : ":",
                              method->argument, method->note.empty() ? "" : " ", method->note));
  }
  return fmt::format("auto ({}; those that this node has), {}", join(automatic, ", "),
                     join(all, ", "));
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
  if (method_named(method.name).has_devices) {
    auto source = open_source(method, settings);
    return claims.take(method.name + ":" + devices_of(*source)) ? std::move(source) : nullptr;
  }
  if (!claims.take(label_of(method)))
    return nullptr;
  return open_source(method, settings);
}

std::unique_ptr<PowerSource> open_source(const Method& method, const SourceSettings& settings) {
  return method_named(method.name).open(method.argument, settings);
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
  for (const auto& source : sources.opened)
    std::ranges::copy(source->unreadable(), std::back_inserter(sources.channels));
  mark_additive(sources.channels, settings.owned);
  return sources;
}

}  // namespace bench::energy
