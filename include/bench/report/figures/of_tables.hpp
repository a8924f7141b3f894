#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <bench/model/benchmark.hpp>
#include <bench/report/figures/figure.hpp>
#include <bench/result/table.hpp>

namespace bench::report {

/// Whether a name is that of a parameter.
using IsParameter = std::function<bool(const std::string& name)>;

/// The figures that are asked for of a table; if there are none, those that `default_plans`
/// chooses.
/// @param is_distribution its last two columns are values and their shares
std::vector<Figure> figures_of(const result::Table& table, const IsParameter& is_parameter,
                               std::span<const model::Figure> asked = {},
                               bool is_distribution = false);

/// The figures of a tidy table: those of each step, from the columns that the step has.
std::vector<Figure> figures_of_steps(const result::Table& tidy, const IsParameter& is_parameter);

/// Ours beside the published number, for each metric of a table that `bench result --compare`
/// shows.
std::vector<Figure> figures_of_comparison(const result::Table& compared);

}  // namespace bench::report
