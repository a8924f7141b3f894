#pragma once

#include "data/field_source.hpp"
#include "data/sample_maker.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace bench::steps {

/// Samples of a data set, epoch after epoch.
/// @param seed draws an order for each epoch, to train on; without it samples come in the order of
///        the data set, to evaluate on
/// @param threads that read, at least 1
/// @throws UsageError if the data set is empty or has 2^32 samples or more
SampleMakers field_makers(const std::shared_ptr<const FieldSource>& source,
                          std::optional<std::uint64_t> seed, int threads);

}  // namespace bench::steps
