#pragma once

#include <cmath>
#include <string>
#include <variant>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/results/table.hpp>

namespace bench::results {

/// A cell in the form in which it is compared: numbers before texts before `nan` before what is
/// missing. The cell must outlive it.
class CellKey {
 public:
  explicit CellKey(const Cell& cell) : CellKey(cell, cell.is_wide_integer) {}

  CellKey(const Cell& cell, bool is_wide_integer) {
    constexpr long long exact_in_doubles = 1LL << 53;
    if (!cell.value)
      return;
    rank_ = Rank::number;
    if (const auto* small = std::get_if<long long>(&*cell.value)) {
      number_ = static_cast<double>(*small);
      if (*small >= exact_in_doubles || *small <= -exact_in_doubles)
        integer_ = std::to_string(*small);
    } else if (const auto* real = std::get_if<double>(&*cell.value)) {
      number_ = *real;
      rank_ = std::isnan(number_) ? not_a_number : Rank::number;
    } else if (is_wide_integer) {
      integer_ = std::get<std::string>(*cell.value);
      number_ = parse_number(integer_).value_or(0);
    } else {
      text_ = &std::get<std::string>(*cell.value);
      rank_ = Rank::text;
    }
  }

  /// Whether it comes last in both directions.
  bool has_no_order() const { return rank_ >= not_a_number; }
  /// Negative, zero or positive as this comes before `other`, beside it or behind it.
  int compare(const CellKey& other) const {
    if (rank_ != other.rank_)
      return rank_ < other.rank_ ? -1 : 1;
    if (rank_ == Rank::text)
      return text_->compare(*other.text_);
    if (rank_ != Rank::number)
      return 0;
    if (number_ != other.number_)
      return number_ < other.number_ ? -1 : 1;
    return integer_.empty() || other.integer_.empty() ? 0
                                                      : compare_integers(integer_, other.integer_);
  }

 private:
  enum Rank { number, text, not_a_number, missing };

  Rank rank_ = missing;
  double number_ = 0;
  std::string integer_;  ///< The digits of an integer that no double tells from its neighbours.
  const std::string* text_ = nullptr;
};

}  // namespace bench::results
