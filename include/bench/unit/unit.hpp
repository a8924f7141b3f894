#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::unit {

/// A unit with arithmetic: a factor times powers of base units. `Wh` is 3600 J, `GB/s` 1e9 B/s.
///
/// The base units are s, J, VA, B and FLOP. Any word that is not in the table of units is a base
/// unit of its own, so that `images/Wh` and `EUR/kWh` are units. `*`, `·` or a blank stand between
/// factors, `/` before what divides (all factors up to the next `/`), `^2` after a power.
///
/// The table is ours: UDUNITS and Boost.Units know neither images nor tokens nor FLOP, and the
/// former reads a database where the program runs.
class Unit {
 public:
  Unit() = default;  ///< Of a plain number.
  explicit Unit(std::string_view text);

  /// In base units: 3600 of `Wh`.
  double factor() const { return factor_; }
  /// The power of a base unit: -1 of `s` in `GB/s`.
  int power(std::string_view base) const;
  /// Of its words, without the sign: 2 of `GB/s^2`.
  int largest_power() const;
  /// Whether it has no base unit: `%`, `x`, `s/min`.
  bool is_number() const { return powers_.empty(); }
  /// Whether both measure the same thing.
  bool is_convertible_to(const Unit& other) const { return powers_ == other.powers_; }

  /// Without base units that are none of ours: `1/s` of `tokens/s`.
  Unit without_words() const;
  /// The same kind of unit in few words, whose factor may differ: `GB/J` of `GB/s/W`, `Wh` of
  /// `W*h`. Of several words for a base unit the first counts, those in `preferred` before the ones
  /// in this unit.
  Unit simplified(std::span<const std::string_view> preferred = {}) const;
  /// `MJ*s`, `tokens/s/device`, `1/s`; empty for a plain number.
  std::string text() const;

  Unit to_the_power(int exponent) const;
  friend Unit operator*(const Unit& a, const Unit& b);
  friend Unit operator/(const Unit& a, const Unit& b);

 private:
  void multiply(std::string_view word, int exponent);

  double factor_ = 1;
  std::map<std::string, int, std::less<>> powers_;  ///< By base unit; none is 0.
  std::vector<std::pair<std::string, int>> words_;  ///< As written, with their powers.
};

/// The factor that makes a number in unit `from` one in unit `to`: 60 from `min` to `s`, 3600 from
/// `Wh` to `J`, 0.001 from `MB/s` to `GB/s`; nothing where the units measure different things.
std::optional<double> conversion_factor(const Unit& from, const Unit& to);
std::optional<double> conversion_factor(std::string_view from, std::string_view to);

/// The units that have a name, with their prefixes: `GB`, `kWh`.
std::vector<std::string> known_names();

/// A did-you-mean for a unit of which a word is close to a known one (`kwh`); else empty.
std::string suggestion(std::string_view text);

}  // namespace bench::unit
