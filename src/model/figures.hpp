#pragma once

#include <vector>

#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

/// The figures of a result element.
/// @param tables those of the same element
/// @throws Error with the place of a table, column or word that there is none of
std::vector<Figure> build_figures(const document::Node& result, const std::vector<Table>& tables);

}  // namespace bench::model
