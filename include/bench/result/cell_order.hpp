#pragma once

#include <string>

#include <bench/result/table.hpp>

namespace bench::result {

/// A cell in the form in which it is compared: numbers before `nan` before texts before what is
/// missing. The cell must outlive it.
class CellKey {
 public:
  explicit CellKey(const Cell& cell) : CellKey(cell, cell.is_wide_integer) {}
  CellKey(const Cell& cell, bool is_wide_integer);

  bool is_missing() const { return rank_ == missing; }
  /// Negative, zero or positive as this comes before `other`, beside it or behind it.
  int compare(const CellKey& other) const;

 private:
  enum Rank { number, not_a_number, text, missing };

  Rank rank_ = missing;
  double number_ = 0;
  std::string integer_;  ///< The digits of an integer that no double tells from its neighbours.
  const std::string* text_ = nullptr;
};

}  // namespace bench::result
