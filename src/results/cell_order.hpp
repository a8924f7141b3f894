#pragma once

#include <string>

#include <bench/results/table.hpp>

namespace bench::results {

/// A cell in the form in which it is compared: numbers before texts before `nan` before what is
/// missing. The cell must outlive it.
class CellKey {
 public:
  explicit CellKey(const Cell& cell) : CellKey(cell, cell.is_wide_integer) {}
  CellKey(const Cell& cell, bool is_wide_integer);

  /// Whether it comes last in both directions.
  bool has_no_order() const { return rank_ >= not_a_number; }
  /// Negative, zero or positive as this comes before `other`, beside it or behind it.
  int compare(const CellKey& other) const;

 private:
  enum Rank { number, text, not_a_number, missing };

  Rank rank_ = missing;
  double number_ = 0;
  std::string integer_;  ///< The digits of an integer that no double tells from its neighbours.
  const std::string* text_ = nullptr;
};

}  // namespace bench::results
