#pragma once

#include "data/field_source.hpp"
#include "data/moments.hpp"

#include <cstdint>
#include <memory>

namespace bench::steps {

/// A data set whose float32 fields get mean 0 and standard deviation 1 over all numbers of a field,
/// as some samples have them that are spread over it. A field that is constant in them gets 0.
/// @param samples to compute them from, at least 1; all if the data set has fewer
/// @param moments of another data set, such as the training part, which are used; if they are
///        empty, they become those of this one
/// @throws DataError if one of them is damaged
std::unique_ptr<FieldSource> normalised_fields(std::shared_ptr<const FieldSource> stored,
                                               std::uint64_t samples, FieldMoments& moments);

}  // namespace bench::steps
