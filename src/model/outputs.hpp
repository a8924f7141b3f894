#pragma once

#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

Analyser build_analyser(const document::Node& node);
Result build_result(const document::Node& node);

}  // namespace bench::model
