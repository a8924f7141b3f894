#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::unit {

/// The highest power of a word in the text of a unit.
constexpr int most_power = 99;

/// A unit with arithmetic: a factor times powers of base units. `Wh` is 3600 J, `GB/s` 1e9 B/s.
///
/// The base units are s, J, VA, B and FLOP. Any word that is not in the table of units is a base
/// unit of its own, so that `images/Wh` and `EUR/kWh` are units. `*`, `·` or a blank separate
/// factors, `/` divides by all factors up to the next `/`, and `^2` is a power, up to `most_power`.
///
/// bench has its own table: UDUNITS and Boost.Units lack images, tokens and FLOP, and UDUNITS reads
/// a database at run time.
class Unit {
 public:
  Unit() = default;  ///< The unit of a plain number.
  explicit Unit(std::string_view text);

  /// Value in base units: 3600 for `Wh`.
  double factor() const { return factor_; }
  /// The power of a base unit: -1 of `s` in `GB/s`.
  int power(std::string_view base) const;
  /// Largest absolute power of its words: 2 for `GB/s^2`.
  int largest_power() const;
  /// Whether it has no base unit: `%`, `x`, `s/min`.
  bool is_number() const { return powers_.empty(); }
  /// Whether both measure the same thing.
  bool is_convertible_to(const Unit& other) const { return powers_ == other.powers_; }

  /// The unit without words that are not in the table: `1/s` for `tokens/s`.
  Unit without_words() const;
  /// A shorter unit of the same dimension, whose factor may differ: `GB/J` for `GB/s/W`, `Wh` for
  /// `W*h`. Of several words for a base unit, the first is used; words in `preferred` come before
  /// those of this unit.
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

/// The factor that converts a number from one unit to another: 60 from `min` to `s`, 3600 from `Wh`
/// to `J`, 0.001 from `MB/s` to `GB/s`; nothing if the units measure different things.
std::optional<double> conversion_factor(const Unit& from, const Unit& to);
std::optional<double> conversion_factor(std::string_view from, std::string_view to);

/// All named units with their prefixes: `GB`, `kWh`; without aliases such as `GFLOPS`.
std::vector<std::string> known_names();

/// A did-you-mean for a unit with a word close to a known one (`kwh`); otherwise empty.
std::string suggestion(std::string_view text);

}  // namespace bench::unit
