#pragma once

#include "data/field_source.hpp"
#include "data/fields.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace bench::steps {

/// Throws a DataError if a sample has numbers that the program cannot use, such as a label of no
/// class: LibTorch would tell neither file nor place. Called by several threads.
using CheckSample = std::function<void(std::uint64_t sample, const FieldMemory& memory)>;

/// A data set whose samples are checked whenever they are read.
std::unique_ptr<FieldSource> checked_fields(std::unique_ptr<FieldSource> stored, CheckSample check);

}  // namespace bench::steps
