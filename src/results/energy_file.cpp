#include "energy_file.hpp"

#include "regex.hpp"
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/energy/core/figures.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/group.hpp>

namespace bench::results {
namespace {

bool is_needed(std::string_view name, const LookedUp& is_looked_up) {
  return std::ranges::any_of(numbers::statistics(), [&](const auto& one) {
    return is_looked_up(std::string(name) + std::string(one.suffix));
  });
}

/// Where no source gave anything, each has its reason, and no table has room for all of them.
std::string without_details(const std::string& absent) {
  return absent.find("; ") == std::string::npos ? absent
                                                : "no power sensor; `bench-energy --list` shows "
                                                  "why, `--power-source model:...` estimates";
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
  const energy::Figure* const figure = energy::figure_of(name);
  if (figure && figure->of == energy::Of::absence && figure->is_of_region())
    region_reasons_[std::string(*figure->owner_in(name))] = text;
  if (name == "energy_quality" && text == "estimated")
    estimated_ = true;
  if (figure && !figure->remark.empty())  // one workpackage of a row is enough to doubt it
    add_once(values_[name], text);
  else if (figure && figure->is_value() && figure->is_text())
    values_[name].emplace_back(text);
  const auto number = parse_number(text);
  if (!number || !std::isfinite(*number))
    return;
  // Figures with a unit are reals even where they are whole, so that a column has one type.
  if (const auto integer = parse_integer(text); integer && energy::unit_of(name).empty())
    values_[name].emplace_back(*integer);
  else
    values_[name].emplace_back(*number);
}

void EnergyReadings::add_reason(const std::string& reason) {
  if (!reason.empty() && std::find(reasons_.begin(), reasons_.end(), reason) == reasons_.end())
    reasons_.push_back(reason);
}

std::string EnergyReadings::reason_of(const std::string& name) const {
  const energy::Figure* const figure = energy::figure_of(name);
  if (figure && figure->is_expected && figure->is_of_region())
    if (const auto found = region_reasons_.find(std::string(*figure->owner_in(name)));
        found != region_reasons_.end())
      return found->second;
  if (figure && figure->is_expected && !reasons_.empty())
    return join(reasons_, "; ");
  if (figure && figure->is_of_region() && figure->of == energy::Of::devices &&
      !values_.contains("energy_devices_wh"))
    return std::string(figure->without);
  return "the meter gave no value";
}

void EnergyReadings::add_to(FoundValues& findings, const std::set<std::string, std::less<>>& skip,
                            const LookedUp& is_looked_up) const {
  if (workpackages_ == 0)
    return;
  for (const auto& [name, values] : values_) {
    if (skip.contains(name))
      continue;
    // Durations are the clock's, and the machine's figures its sensors', whatever follows the
    // power.
    const Described described{
        name, energy::unit_of(name),
        estimated_ && !name.starts_with("duration_") && !name.starts_with("machine_"),
        is_looked_up};
    const energy::Figure* const figure = energy::figure_of(name);
    const bool is_text = figure && figure->is_text();
    add_statistics(described, values, !is_text, findings);
    if (values.size() == workpackages_ || is_text)
      continue;
    for (const char* sum : {"_sum", "_sum2"})
      findings[name + sum].absent_reason =
          fmt::format("only {} of {} workpackages have a value: {}", values.size(), workpackages_,
                      reason_of(name));
  }
  for (const std::string& name : expected())
    if (!values_.contains(name) && !skip.contains(name))
      add_absent({name, energy::unit_of(name), false, is_looked_up}, reason_of(name), findings);
  for (const energy::Figure& figure : energy::figures()) {
    const std::string name(figure.name);
    if (figure.has_fixed_name() && !figure.without.empty() && !values_.contains(name) &&
        !skip.contains(name) && is_needed(name, is_looked_up))
      add_absent({name, energy::unit_of(name), false, is_looked_up}, reason_without(figure),
                 findings);
  }
}

std::string EnergyReadings::reason_without(const energy::Figure& figure) const {
  if (values_.empty())
    return reason_of("energy_wh");
  const bool is_power = energy::unit_of(figure.name) == "W";
  if (figure.of == energy::Of::devices && is_power && values_.contains("energy_devices_wh"))
    return "a device has no sample of its power";
  return std::string(figure.without);
}

std::set<std::string> EnergyReadings::expected() const {
  std::set<std::string> regions;
  for (const auto& [name, values] : values_)
    if (const energy::Figure* const figure = energy::figure_of(name);
        figure && figure->is_of_region() && figure->of == energy::Of::run)  // its duration
      regions.emplace(*figure->owner_in(name));
  std::set<std::string> names;
  for (const energy::Figure& figure : energy::figures())
    if (figure.is_expected && figure.has_fixed_name())
      names.emplace(figure.name);
    else if (figure.is_expected)
      for (const std::string& region : regions)
        names.insert(figure.name_for(region));
  return names;
}

std::string absence_of_region(std::string_view name, const FoundValues& findings) {
  const auto total = findings.find("energy_wh");
  const energy::Figure* const figure = energy::figure_of(numbers::without_suffix(name));
  const bool is_asked =
      total != findings.end() && figure && figure->is_expected && figure->is_of_region();
  return is_asked ? total->second.absent_reason : "";
}

}  // namespace bench::results
