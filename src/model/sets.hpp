#pragma once

#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

ParameterSet build_parameter_set(const document::Node& node);
PatternSet build_pattern_set(const document::Node& node);

}  // namespace bench::model
