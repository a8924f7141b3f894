#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include <bench/base/text.hpp>
#include <bench/energy/core/units.hpp>
#include <bench/energy/sources/thermal.hpp>

namespace bench::energy {
namespace {

constexpr double stable_for_s = 10;
constexpr double stable_within_c = 1;

}  // namespace

std::optional<ThermalCondition> parse_thermal(const std::string& text) {
  using enum ThermalCondition::Kind;
  if (text == "stable")
    return ThermalCondition{.kind = stable};
  if (const auto time_s = interval_s_of(text); time_s && *time_s > 0)
    return ThermalCondition{.kind = time, .time_s = *time_s};
  std::string_view number = strip(text);
  if (!number.ends_with('C'))
    return std::nullopt;
  number.remove_suffix(1);
  const auto temperature_c = parse_number(strip(number));
  if (!temperature_c || !std::isfinite(*temperature_c) || *temperature_c <= 0)
    return std::nullopt;
  return ThermalCondition{.kind = temperature, .temperature_c = *temperature_c};
}

bool ThermalCriterion::is_over(double time_s, std::optional<double> temperature_c) {
  switch (condition_.kind) {
    case ThermalCondition::Kind::nothing:
      return true;
    case ThermalCondition::Kind::time:
      return time_s >= condition_.time_s;
    case ThermalCondition::Kind::temperature:
      return temperature_c && *temperature_c <= condition_.temperature_c;
    case ThermalCondition::Kind::stable:
      break;
  }
  if (!temperature_c) {
    since_s_.reset();
    return false;
  }
  if (since_s_) {
    least_c_ = std::min(least_c_, *temperature_c);
    most_c_ = std::max(most_c_, *temperature_c);
  }
  if (!since_s_ || most_c_ - least_c_ > stable_within_c) {
    since_s_ = time_s;
    least_c_ = most_c_ = *temperature_c;
  }
  return time_s - *since_s_ >= stable_for_s;
}

}  // namespace bench::energy
