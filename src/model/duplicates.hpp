#pragma once

#include <string>
#include <vector>

#include <bench/document/node.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::model {

/// What several definitions of one name in a set come to.
enum class Duplicate {
  none,     ///< Of a parameter: its set decides.
  replace,  ///< The last counts, in place of the first.
  concat,   ///< A template of all their values, each once, sorted as texts.
  error
};

/// The `duplicate` of a parameter.
Duplicate duplicate_of_parameter(const document::Node& node);
/// The `duplicate` of a set; `replace` if it has none.
Duplicate duplicate_of_set(const document::Node& node);

/// A parameter as one element defines it.
struct Definition {
  Parameter parameter;
  Duplicate duplicate = Duplicate::none;
};

/// One parameter per name, in the order of their first definitions.
/// @throws Error where a second definition is not allowed, or does not fit the first
std::vector<Parameter> merge_duplicates(std::vector<Definition> definitions, Duplicate of_set,
                                        const std::string& set_name);

}  // namespace bench::model
