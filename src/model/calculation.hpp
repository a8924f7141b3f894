#pragma once

#include <optional>
#include <string>

#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

/// What a column or key calculates; nothing if it shows values of a name.
/// @throws Error with the place if attributes of a calculation are missing, or do not belong
/// together
std::optional<Calculation> build_calculation(const document::Node& node);

/// That of its column or key: the metric; the title, else the formula.
std::string name_of(const Calculation& calculation, const std::string& title);

/// Checks the calculations and units of all columns.
/// @throws Error with the place
void check_calculations(const Benchmark& benchmark);

}  // namespace bench::model
