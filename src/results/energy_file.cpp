#include "energy_file.hpp"

#include "statistics.hpp"
#include "subject.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/model/meter_names.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/group.hpp>

namespace bench::analyse {
namespace {

/// Of all channels that may be added.
constexpr std::string_view totals[] = {"energy_wh", "power_mean_w", "power_max_w"};

/// Energy and mean power of a region, which are sums over the channels as totals are, and the
/// energy of the devices among them.
constexpr std::pair<std::string_view, std::string_view> of_regions[] = {
    {"energy_region_", "_wh"}, {"power_region_", "_w"}, {"energy_devices_region_", "_wh"}};

/// What is between the two, if the name has both.
std::optional<std::string> region_of(std::string_view name, std::string_view begin,
                                     std::string_view end) {
  if (!name.starts_with(begin) || !name.ends_with(end) || name.size() < begin.size() + end.size())
    return std::nullopt;
  return std::string(name.substr(begin.size(), name.size() - begin.size() - end.size()));
}

bool is_of_region(std::string_view name) {
  return std::ranges::any_of(of_regions, [&](const auto& affixes) {
    return region_of(name, affixes.first, affixes.second).has_value();
  });
}

constexpr std::string_view no_device = "no GPU or IPU was measured";

/// Figures of sensors that few machines have, and what is missing where there is none.
constexpr std::pair<std::string_view, std::string_view> of_some_sensors[] = {
    {"power_device_max_w", no_device},
    {"power_device_mean_w", no_device},
    {"power_devices_max_w", no_device},
    {"power_devices_mean_w", no_device},
    {"energy_devices_wh", no_device},
    {"energy_devices_counter_wh", "no GPU or IPU with an energy counter was measured"},
    {"energy_devices_integrated_wh", no_device},
    {"power_node_mean_w", "no sensor of the whole node"},
    {"power_node_max_w", "no sensor of the whole node"},
    {"power_node_apparent_mean_va", "no sensor tells the node's apparent power"},
    {"power_node_apparent_max_va", "no sensor tells the node's apparent power"}};

/// Whether all channels are in it, so that it is absent for the reason that the meter tells.
bool is_sum(std::string_view name) {
  return is_of_region(name) ||
         std::find(std::begin(totals), std::end(totals), name) != std::end(totals);
}

bool is_needed(std::string_view name, const LookedUp& is_looked_up) {
  return std::ranges::any_of(statistics::statistics(), [&](const auto& one) {
    return is_looked_up(std::string(name) + std::string(one.suffix));
  });
}

/// Where no source gave anything, each has its reason, and no table has room for all of them.
std::string without_details(const std::string& absent) {
  return absent.find("; ") == std::string::npos ? absent
                                                : "no power sensor; `bench-energy --list` shows "
                                                  "why, `--power-source model:...` estimates";
}

bool is_remark(const std::string& name) {
  return std::ranges::find(model::remarks, name, &model::Remark::name) != model::remarks.end();
}

void add_once(std::vector<Value>& texts, const std::string& text) {
  if (std::ranges::find(texts, Value(text)) == texts.end())
    texts.emplace_back(text);
}

}  // namespace

void EnergyReadings::add(const std::optional<Subject>& summary) {
  if (!summary) {
    leave_out(
        "the meter wrote no result (if it was killed, `bench-energy recover DIR` makes energy.txt "
        "from the samples in the work directory)");
    return;
  }
  ++workpackages_;
  std::string quality;
  std::string absent;
  for (const std::string& line : split(summary->text, "\n")) {
    const auto equals = line.find('=');
    if (equals == std::string::npos)
      continue;
    const std::string name(strip(line.substr(0, equals)));
    const std::string text(strip(line.substr(equals + 1)));
    if (name == "energy_quality")
      quality = text;
    if (name == "energy_absent")
      absent = text;
    add_line(name, text);
  }
  add_reason(quality == "none" ? without_details(absent) : absent);
}

void EnergyReadings::leave_out(const std::string& reason) {
  ++workpackages_;
  add_reason(reason);
}

void EnergyReadings::add_line(const std::string& name, const std::string& text) {
  if (const auto region = region_of(name, "energy_region_", "_absent"))
    region_reasons_[*region] = text;
  if (name == "energy_quality" && text == "estimated")
    estimated_ = true;
  if (is_remark(name))  // one workpackage of a row is enough to doubt it
    add_once(values_[name], text);
  else if (model::is_text_of_meter(name))
    values_[name].emplace_back(text);
  const auto number = parse_number(text);
  if (!number || !std::isfinite(*number))
    return;
  // Figures with a unit are reals even where they are whole, so that a column has one type.
  if (const auto integer = parse_integer(text); integer && model::unit_of_meter(name).empty())
    values_[name].emplace_back(*integer);
  else
    values_[name].emplace_back(*number);
}

void EnergyReadings::add_reason(const std::string& reason) {
  if (!reason.empty() && std::find(reasons_.begin(), reasons_.end(), reason) == reasons_.end())
    reasons_.push_back(reason);
}

std::string EnergyReadings::reason_of(const std::string& name) const {
  for (const auto& [begin, end] : of_regions)
    if (const auto region = region_of(name, begin, end))
      if (const auto found = region_reasons_.find(*region); found != region_reasons_.end())
        return found->second;
  if (is_sum(name) && !reasons_.empty())
    return join(reasons_, "; ");
  if (name.starts_with("energy_devices_region_") && !values_.contains("energy_devices_wh"))
    return std::string(no_device);
  return "the meter gave no value";
}

void EnergyReadings::add_to(Findings& findings, const std::set<std::string, std::less<>>& skip,
                            const LookedUp& is_looked_up) const {
  if (workpackages_ == 0)
    return;
  for (const auto& [name, values] : values_) {
    if (skip.contains(name))
      continue;
    // Durations are the clock's, and the machine's figures its sensors', whatever follows the
    // power.
    const Described described{
        name, model::unit_of_meter(name),
        estimated_ && !name.starts_with("duration_") && !name.starts_with("machine_"),
        is_looked_up};
    add_statistics(described, values, !model::is_text_of_meter(name), findings);
    if (values.size() == workpackages_ || model::is_text_of_meter(name))
      continue;
    for (const char* sum : {"_sum", "_sum2"})
      findings[name + sum].absent_reason =
          fmt::format("only {} of {} workpackages have a value: {}", values.size(), workpackages_,
                      reason_of(name));
  }
  for (const std::string& name : expected())
    if (!values_.contains(name) && !skip.contains(name))
      add_absent({name, model::unit_of_meter(name), false, is_looked_up}, reason_of(name),
                 findings);
  for (const auto& [name, reason] : of_some_sensors)
    if (!values_.contains(std::string(name)) && !skip.contains(name) &&
        is_needed(name, is_looked_up))
      add_absent({std::string(name), model::unit_of_meter(name), false, is_looked_up},
                 values_.empty() ? reason_of("energy_wh") : std::string(reason), findings);
}

std::set<std::string> EnergyReadings::expected() const {
  std::set<std::string> names(std::begin(totals), std::end(totals));
  for (const auto& [name, values] : values_)
    if (const auto region = region_of(name, "duration_region_", "_s"))
      for (const auto& [begin, end] : of_regions)
        names.insert(fmt::format("{}{}{}", begin, *region, end));
  return names;
}

std::string absence_of_region(std::string_view name, const Findings& findings) {
  const auto total = findings.find("energy_wh");
  const bool is_asked = total != findings.end() && is_of_region(statistics::without_suffix(name));
  return is_asked ? total->second.absent_reason : "";
}

}  // namespace bench::analyse
