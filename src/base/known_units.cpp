#include "known_units.hpp"

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/keys.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unit.hpp>

namespace bench::unit {
namespace {

using Table = std::map<std::string, Known, std::less<>>;

/// Of the SI (BIPM, The International System of Units, 9th edition, table 7) and of IEC 80000-13.
const std::map<std::string, double>& prefixes() {
  static const std::map<std::string, double> all{
      {"n", 1e-9},    {"u", 1e-6},       {"µ", 1e-6},    {"m", 1e-3},    {"k", 1e3},
      {"M", 1e6},     {"G", 1e9},        {"T", 1e12},    {"P", 1e15},    {"E", 1e18},
      {"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}};
  return all;
}

void add(Table& table, const std::string& name, double factor, const Powers& powers,
         const std::string& with_prefixes = "", bool is_alias = false) {
  table[name] = {factor, powers, is_alias};
  for (const std::string& prefix : split_names(with_prefixes, " "))
    table[prefix + name] = {factor * prefixes().at(prefix), powers, is_alias};
}

Table made() {
  const Powers time{{"s", 1}};
  const Powers energy{{"J", 1}};
  const Powers power{{"J", 1}, {"s", -1}};
  Table table;
  add(table, "s", 1, time, "n u µ m");
  add(table, "min", 60, time);
  add(table, "h", 3600, time);
  add(table, "d", 86400, time);
  add(table, "Hz", 1, {{"s", -1}}, "k M G");
  add(table, "J", 1, energy, "m k M G T");
  add(table, "Wh", 3600, energy, "m k M G");
  add(table, "W", 1, power, "m k M G");
  add(table, "VA", 1, {{"VA", 1}}, "k M");
  add(table, "VAh", 3600, {{"VA", 1}, {"s", 1}}, "k M");
  add(table, "B", 1, {{"B", 1}}, "k M G T P Ki Mi Gi Ti Pi");
  add(table, "bit", 0.125, {{"B", 1}}, "k M G T");
  add(table, "FLOP", 1, {{"FLOP", 1}}, "M G T P E");
  add(table, "%", 0.01, {});
  add(table, "x", 1, {});
  add(table, "1", 1, {});
  // Programs print these.
  for (const char* name : {"FLOPS", "Flops", "flops"})
    add(table, name, 1, {{"FLOP", 1}, {"s", -1}}, "M G T P E", true);
  for (const char* name : {"FPS", "fps"})
    add(table, name, 1, {{"frames", 1}, {"s", -1}}, "", true);
  for (const char* name : {"sec", "second", "seconds"})
    add(table, name, 1, time, "", true);
  for (const char* name : {"day", "days"})  // GROMACS has ns/day
    add(table, name, 86400, time, "", true);
  return table;
}

const Table& table() {
  static const Table units = made();
  return units;
}

}  // namespace

const Known* known_unit(std::string_view name) {
  const auto known = table().find(name);
  return known == table().end() ? nullptr : &known->second;
}

std::string name_of(double factor, const Powers& powers) {
  constexpr double rounding = 1e-14;
  for (const auto& [name, known] : table())
    if (!known.is_alias && !powers.empty() && known.powers == powers &&
        powers.begin()->second > 0 && std::abs(known.factor / factor - 1) < rounding)
      return name;
  return "";
}

std::vector<std::string> known_names() {
  std::vector<std::string> names = keys_of(table());
  std::erase_if(names, [](const std::string& name) { return table().at(name).is_alias; });
  return names;
}

}  // namespace bench::unit
