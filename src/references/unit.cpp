#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/text.hpp>
#include <bench/references/unit.hpp>

namespace bench::references {
namespace {

/// A unit as a factor times powers of base units: `Wh` is 3600 J.
struct Unit {
  double factor = 1;
  std::map<std::string, int> powers;
};

const std::map<std::string, Unit, std::less<>>& known_units() {
  static const std::map<std::string, int> time{{"s", 1}};
  static const std::map<std::string, int> energy{{"J", 1}};
  static const std::map<std::string, int> power{{"J", 1}, {"s", -1}};
  static const std::map<std::string, int> apparent{{"VA", 1}};
  static const std::map<std::string, int> apparent_energy{{"VA", 1}, {"s", 1}};
  static const std::map<std::string, int> data{{"B", 1}};
  static const std::map<std::string, int> flop{{"FLOP", 1}};
  static const std::map<std::string, Unit, std::less<>> units{
      {"ns", {1e-9, time}},
      {"us", {1e-6, time}},
      {"µs", {1e-6, time}},
      {"ms", {1e-3, time}},
      {"s", {1, time}},
      {"min", {60, time}},
      {"h", {3600, time}},
      {"d", {86400, time}},
      {"J", {1, energy}},
      {"kJ", {1e3, energy}},
      {"MJ", {1e6, energy}},
      {"GJ", {1e9, energy}},
      {"mWh", {3.6, energy}},
      {"Wh", {3600, energy}},
      {"kWh", {3.6e6, energy}},
      {"MWh", {3.6e9, energy}},
      {"mW", {1e-3, power}},
      {"W", {1, power}},
      {"kW", {1e3, power}},
      {"MW", {1e6, power}},
      {"VA", {1, apparent}},
      {"kVA", {1e3, apparent}},
      {"VAh", {3600, apparent_energy}},
      {"kVAh", {3.6e6, apparent_energy}},
      {"B", {1, data}},
      {"kB", {1e3, data}},
      {"MB", {1e6, data}},
      {"GB", {1e9, data}},
      {"TB", {1e12, data}},
      {"KiB", {1024.0, data}},
      {"MiB", {1048576.0, data}},
      {"GiB", {1073741824.0, data}},
      {"TiB", {1099511627776.0, data}},
      {"FLOP", {1, flop}},
      {"GFLOP", {1e9, flop}},
      {"TFLOP", {1e12, flop}},
      {"PFLOP", {1e15, flop}},
      {"%", {0.01, {}}},
      {"x", {1, {}}},
      {"1", {1, {}}},
  };
  return units;
}

void multiply(Unit& unit, const std::string& word, int sign) {
  const auto known = known_units().find(word);
  if (known == known_units().end()) {
    unit.powers[word] += sign;
    return;
  }
  unit.factor *= sign > 0 ? known->second.factor : 1 / known->second.factor;
  for (const auto& [base, power] : known->second.powers)
    unit.powers[base] += sign * power;
}

Unit parsed(std::string_view text) {
  Unit unit;
  int sign = 1;
  for (const std::string& part : split(replace_all(std::string(text), "·", "*"), "/")) {
    for (const std::string& word : split_names(replace_all(part, "*", " "), " "))
      multiply(unit, word, sign);
    sign = -1;
  }
  std::erase_if(unit.powers, [](const auto& base) { return base.second == 0; });
  return unit;
}

}  // namespace

std::optional<double> conversion_factor(std::string_view from, std::string_view to) {
  const Unit source = parsed(from);
  const Unit target = parsed(to);
  if (source.powers != target.powers)
    return std::nullopt;
  return source.factor / target.factor;
}

}  // namespace bench::references
