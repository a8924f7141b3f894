#pragma once

#include "data/field_source.hpp"
#include "harness/loader_options.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bench::ap3 {

/// The columns of MAELSTROM's TFRecord files, one in each record, whose features have the names of
/// `fields`. Other features, such as those of long waves, are not read.
/// @throws steps::UsageError, steps::DataError as `steps::open_example_fields`
std::unique_ptr<steps::FieldSource> open_dataset(const std::vector<std::string>& files,
                                                 int threads);

/// These, and synthetic ones.
steps::SampleFormat sample_format();

}  // namespace bench::ap3
