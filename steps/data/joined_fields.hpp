#pragma once

#include "data/field_source.hpp"
#include "data/fields.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace bench::steps {

/// A field of joined samples.
struct JoinedField {
  Field field;
  std::size_t parts = 1;  ///< Fields of the sources that fill it, one behind the other.
};

/// Samples whose fields come from several sources, such as files for each group of variables:
/// sample i has the fields of sample i of every source.
/// @param sources their fields fill those of the samples, in order
/// @throws std::invalid_argument if the sources have different numbers of samples, or their fields
///         do not fill the fields exactly
std::unique_ptr<FieldSource> join_fields(std::vector<std::shared_ptr<const FieldSource>> sources,
                                         const std::vector<JoinedField>& fields);

}  // namespace bench::steps
