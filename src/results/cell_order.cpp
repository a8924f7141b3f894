#include "cell_order.hpp"

#include <cmath>
#include <string>
#include <variant>

#include <bench/base/integer.hpp>
#include <bench/base/text.hpp>
#include <bench/results/table.hpp>

namespace bench::results {

CellKey::CellKey(const Cell& cell, bool is_wide_integer) {
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

int CellKey::compare(const CellKey& other) const {
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

}  // namespace bench::results
