#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/pages/plan.hpp>
#include <bench/pages/source.hpp>

namespace bench::report {

/// More panels of a figure would not be read.
constexpr std::size_t panels_shown = 24;

/// The number of different combinations of values.
std::size_t combinations(const Source& source, std::span<const std::size_t> columns);

/// The parameters that distinguish rows: those with several values that are not determined by
/// `placed` and earlier ones.
std::vector<std::size_t> free_parameters(const Source& source,
                                         std::span<const std::size_t> placed = {});

/// Those that the plan does not place, so that rows of different values are one point.
std::vector<std::size_t> hidden_parameters(const Source& source, const Plan& plan);

/// The columns of numbers that are not parameters, without statistics and error bars of others, in
/// order.
std::vector<std::size_t> measured_values(const Source& source);

/// Those of them that vary.
std::vector<std::size_t> shown_values(const Source& source);

/// `precision=fp16, model=small` of a row; for one column, only its text.
std::string combined_text(const Source& source, std::span<const std::size_t> columns,
                          std::size_t row);

/// The combined texts of all rows, in order of the columns' levels.
std::vector<std::string> combined_levels(const Source& source,
                                         std::span<const std::size_t> columns);

/// The base if all ratios to the first number are powers of it: 2 for 3, 6, 24; 10 for 1, 10, 1000.
/// None for fewer than three numbers.
std::optional<int> base_of_powers(std::span<const double> ascending);

}  // namespace bench::report
