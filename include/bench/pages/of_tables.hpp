#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/pages/figure.hpp>
#include <bench/results/table.hpp>

namespace bench::report {

/// Whether a name denotes a parameter.
using IsParameter = std::function<bool(const std::string& name)>;

/// The figures that the input file requests for a table, or those that `default_plans` chooses.
/// @param is_distribution the last two columns are values and their shares
std::vector<Figure> figures_of(const result::Table& table, const IsParameter& is_parameter,
                               std::span<const model::Figure> asked = {},
                               bool is_distribution = false);

/// The figures of a tidy table: for each step, from the columns in which it has values.
std::vector<Figure> figures_of_steps(const result::Table& tidy, const IsParameter& is_parameter);

/// Figures of measured beside published numbers, one for each metric of a table from `bench result
/// --compare`.
std::vector<Figure> figures_of_comparison(const result::Table& compared);

}  // namespace bench::report
