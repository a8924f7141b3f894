#pragma once

#include "include_path.hpp"
#include "xml_file.hpp"

#include <set>
#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/document/node.hpp>

namespace bench::document {

/// What becomes of an element that the language does not know: a file from which others take
/// parts may hold some for them alone.
enum class UnknownElement { refused, left_out };

/// The element tree of an XML file, with its `include`s replaced.
/// @param path where includes are looked for
/// @param active tags
/// @param tag_names takes the names in `tag` attributes of the includes
/// @param only the children of the root to convert; empty: all, with its attributes and text
/// @throws Error with the place: an unknown element that is refused, an include that finds
/// nothing or itself
Node convert_xml(const XmlFile& file, const IncludePath& path, const std::set<std::string>& active,
                 UnknownElement unknown, Diagnostics& diagnostics, std::set<std::string>& tag_names,
                 const std::vector<std::string>& only = {});

}  // namespace bench::document
