#pragma once

#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

Step build_step(const document::Node& node);

}  // namespace bench::model
