#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/report/figures/plan.hpp>
#include <bench/report/figures/source.hpp>

namespace bench::report {

/// The parameters that tell rows apart: those with several values, without those that the ones
/// before them determine.
std::vector<std::size_t> free_parameters(const Source& source);

/// The columns of numbers that are not parameters, without statistics and error bars of others, in
/// order.
std::vector<std::size_t> measured_values(const Source& source);

/// Those of them that differ, so that there is something to see.
std::vector<std::size_t> shown_values(const Source& source);

/// `precision=fp16, model=small` of a row; of one column its text alone.
std::string combined_text(const Source& source, std::span<const std::size_t> columns,
                          std::size_t row);

/// Those of all rows, in order of the columns' levels.
std::vector<std::string> combined_levels(const Source& source,
                                         std::span<const std::size_t> columns);

/// The base if the numbers are powers of it, with a step of at least it: 2 of 1, 2, 8; 10 of 1,
/// 100. None of fewer than three.
std::optional<int> base_of_powers(std::span<const double> ascending);

}  // namespace bench::report
