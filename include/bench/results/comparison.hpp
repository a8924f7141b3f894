#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include <bench/results/reference.hpp>
#include <bench/results/table.hpp>

namespace bench::results {

/// The fields that say how a number was measured, those first that count most when the nearest
/// published number is chosen.
std::span<const Field> condition_fields();

/// The conditions under which a run measured, as far as they are known.
using Conditions = std::map<Field, std::string>;

/// The conditions that none of the columns is. What they are in each row can be seen if the table
/// gets columns with their names.
std::vector<std::string> missing_conditions(std::span<const Heading> columns);

/// Whether two texts of a condition mean the same: without upper case and punctuation, numbers by
/// value, accelerators also where one text only says more (`NVIDIA A100 SXM4 40 GB`, `A100-40GB`).
bool is_same(Field condition, const std::string& a, const std::string& b);

struct Comparison {
  Table table;                       ///< A row for each number of ours that has a published one.
  std::vector<std::string> reasons;  ///< Why numbers have no row; the table's notes say it, too.
};

/// Sets the numbers of a table beside the nearest published ones.
///
/// A column is the metric or condition that it is said to be (`compare`), else the one that its
/// title or its name is. Units are converted into the published ones. The nearest number differs
/// least in the first condition that differs; of equal ones the first counts. Published numbers
/// that differ in nothing but their cell are repetitions: their mean is taken.
///
/// @param run conditions of all rows, where no column says another
/// @throws Error with the place if two columns are said to be the same
Comparison compare(const Table& ours, const Conditions& run, std::span<const Reference> references);

}  // namespace bench::results
