#pragma once

#include "data/field_source.hpp"
#include "data/fields.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace bench::steps {

/// Computes the fields of a sample from those of a data set. Called by several threads.
using TransformSample = std::function<void(const FieldMemory& stored, const FieldMemory& sample)>;

/// A data set whose samples are computed from those of another, whenever they are read.
/// @param fields of the result
std::unique_ptr<FieldSource> transformed_fields(std::shared_ptr<const FieldSource> stored,
                                                std::vector<Field> fields,
                                                TransformSample transform);

}  // namespace bench::steps
