#pragma once

#include <string>

#include <bench/document/node.hpp>

namespace bench::document {

/// The tree as an input file in XML, which means the same when it is read. Lists of values, which
/// XML does not have, become texts with separators. Attributes whose names XML does not allow are
/// left out: nothing reads them.
std::string to_xml(const Node& node);

}  // namespace bench::document
