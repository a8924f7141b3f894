#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/base/text.hpp>
#include <bench/base/unit.hpp>

namespace bench::unit {
namespace {

/// Powers by base unit.
using Powers = std::map<std::string, int, std::less<>>;

/// A unit that has a name, in base units.
struct Known {
  double factor = 1;
  Powers powers;
  bool is_alias = false;  ///< People write it; bench itself writes another name.
};

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

/// By its name with its prefix, or null.
const Known* known_unit(std::string_view name) {
  const auto known = table().find(name);
  return known == table().end() ? nullptr : &known->second;
}

/// The name of exactly this unit: `Wh` of 3600 J. Empty if there is none, and for `1/s`, which is
/// usually a rate rather than a frequency in `Hz`.
std::string name_of(double factor, const Powers& powers) {
  constexpr double rounding = 1e-14;
  for (const auto& [name, known] : table())
    if (!known.is_alias && !powers.empty() && known.powers == powers &&
        powers.begin()->second > 0 && std::abs(known.factor / factor - 1) < rounding)
      return name;
  return "";
}

/// `s` and -1 of `s^-1`. Anything that is not a power belongs to the word.
std::pair<std::string, int> word_and_power(const std::string& text) {
  const auto mark = text.find('^');
  if (mark == std::string::npos)
    return {text, 1};
  const auto power = parse_integer(std::string_view(text).substr(mark + 1));
  if (!power || *power < -most_power || *power > most_power)
    return {text, 1};
  return {text.substr(0, mark), static_cast<int>(*power)};
}

/// The words of a unit with their powers.
std::vector<std::pair<std::string, int>> words_of(std::string_view text) {
  std::vector<std::pair<std::string, int>> words;
  int sign = 1;
  for (const std::string& part : split(replace_all(std::string(text), "·", "*"), "/")) {
    for (const std::string& piece : split_names(replace_all(part, "*", " "), " ")) {
      auto [word, power] = word_and_power(piece);
      words.emplace_back(std::move(word), sign * power);
    }
    sign = -1;
  }
  return words;
}

Powers powers_of(const std::string& word) {
  const Known* known = known_unit(word);
  return known ? known->powers : Powers{{word, 1}};
}

/// Whether a unit with these powers, or one over it, can be taken out of `all`.
bool is_part(const Powers& powers, int sign, const Powers& all) {
  return std::ranges::all_of(powers, [&](const auto& base) {
    const auto found = all.find(base.first);
    const int power = sign * base.second;
    return found != all.end() && found->second * power > 0 &&
           std::abs(found->second) >= std::abs(power);
  });
}

}  // namespace

std::vector<std::string> known_names() {
  std::vector<std::string> names = keys_of(table());
  std::erase_if(names, [](const std::string& name) { return table().at(name).is_alias; });
  return names;
}

Unit::Unit(std::string_view text) {
  for (const auto& [word, power] : words_of(text))
    multiply(word, power);
}

void Unit::multiply(std::string_view word, int exponent) {
  const auto same = std::ranges::find(words_, word, &std::pair<std::string, int>::first);
  if (same == words_.end())
    words_.emplace_back(word, exponent);
  else if (same->second == -exponent)
    words_.erase(same);
  else
    same->second += exponent;
  const auto add = [&](const std::string& base, int power) {
    int& sum = powers_[base];
    sum += power;
    if (sum == 0)
      powers_.erase(base);
  };
  const Known* known = known_unit(word);
  if (!known)
    return add(std::string(word), exponent);
  // 1 / 1e9 is more precise than 1e-9
  const double factor = std::pow(known->factor, std::abs(exponent));
  factor_ = exponent > 0 ? factor_ * factor : factor_ / factor;
  for (const auto& [base, power] : known->powers)
    add(base, exponent * power);
}

int Unit::power(std::string_view base) const {
  const auto found = powers_.find(base);
  return found == powers_.end() ? 0 : found->second;
}

int Unit::largest_power() const {
  int largest = 0;
  for (const auto& [word, power] : words_)
    largest = std::max(largest, std::abs(power));
  return largest;
}

Unit Unit::without_words() const {
  Unit without = *this;
  std::erase_if(without.powers_, [](const auto& base) { return !known_unit(base.first); });
  std::erase_if(without.words_, [](const auto& word) { return !known_unit(word.first); });
  return without;
}

Unit Unit::simplified(std::span<const std::string_view> preferred) const {
  if (const std::string name = preferred.empty() ? name_of(factor_, powers_) : ""; !name.empty())
    return Unit(name);
  std::vector<std::string> candidates(preferred.begin(), preferred.end());
  for (const auto& [word, power] : words_)
    candidates.push_back(word);
  Powers left = powers_;
  Unit simple;
  const auto take = [&](const std::string& word, int exponent) {
    simple.multiply(word, exponent);
    for (const auto& [base, power] : powers_of(word)) {
      int& rest = left[base];
      rest -= power * exponent;
      if (rest == 0)
        left.erase(base);
    }
  };
  for (const std::string& word : candidates)
    for (const int sign : {1, -1})
      if (powers_of(word).size() > 1 && is_part(powers_of(word), sign, left))
        take(word, sign);
  for (const std::string& word : candidates)
    if (const Powers powers = powers_of(word); powers.size() == 1 && powers.begin()->second == 1)
      if (const auto base = left.find(powers.begin()->first); base != left.end())
        take(word, base->second);
  for (const auto& [base, power] : Powers(left))
    take(base, power);
  return simple;
}

std::string Unit::text() const {
  std::string above;
  std::string below;
  for (const auto& [word, power] : words_) {
    std::string& part = power > 0 ? above : below;
    part += power > 0 ? (above.empty() ? "" : "*") : "/";
    part += word + (std::abs(power) > 1 ? "^" + std::to_string(std::abs(power)) : "");
  }
  return above.empty() && !below.empty() ? "1" + below : above + below;
}

Unit Unit::to_the_power(int exponent) const {
  Unit result;
  for (const auto& [word, power] : words_)
    if (exponent != 0)
      result.multiply(word, power * exponent);
  return result;
}

Unit operator*(const Unit& a, const Unit& b) {
  Unit product = a;
  for (const auto& [word, power] : b.words_)
    product.multiply(word, power);
  return product;
}

Unit operator/(const Unit& a, const Unit& b) {
  return a * b.to_the_power(-1);
}

std::optional<double> conversion_factor(const Unit& from, const Unit& to) {
  if (!from.is_convertible_to(to))
    return std::nullopt;
  const double factor = from.factor() / to.factor();
  constexpr double rounding = 1e-14;  // of a product of a few factors
  return std::abs(factor - 1) < rounding ? 1 : factor;
}

std::optional<double> conversion_factor(std::string_view from, std::string_view to) {
  return conversion_factor(Unit(from), Unit(to));
}

std::string suggestion(std::string_view text) {
  const std::vector<std::string> names = known_names();
  for (const auto& [word, power] : words_of(text)) {
    if (known_unit(word))
      continue;
    const auto other_case =
        std::ranges::find(names, to_lower(word), [](const auto& name) { return to_lower(name); });
    const std::string near = other_case == names.end() ? did_you_mean(word, names)
                                                       : "did you mean '" + *other_case + "'?";
    if (!near.empty())
      return near;
  }
  return "";
}

}  // namespace bench::unit
