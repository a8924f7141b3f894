#pragma once

#include <string>

#include <bench/document/node.hpp>

namespace bench::document {

/// The tree as an input file in XML, which gives the same tree when it is read. Attributes whose
/// names XML does not allow are left out: nothing reads them.
std::string to_xml(const Node& node);

}  // namespace bench::document
