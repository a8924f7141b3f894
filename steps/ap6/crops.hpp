#pragma once

#include "ap6/sample.hpp"
#include "data/field_source.hpp"
#include "data/sample_maker.hpp"

#include <cstdint>
#include <memory>

namespace bench::ap6 {

/// A data set whose samples also have their number, as their last field `index`.
std::unique_ptr<steps::FieldSource> numbered(std::shared_ptr<const steps::FieldSource> stored);

/// Makes `cropped_fields` of samples with the `stored_fields`. The places of the crops are random.
/// They depend on the seed and on the number of the sample in the training, so a sample has others
/// in each epoch.
steps::SampleMakers random_crops(steps::SampleMakers makers, const Grid& grid, std::uint64_t seed);

}  // namespace bench::ap6
