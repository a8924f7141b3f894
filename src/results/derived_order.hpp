#pragma once

#include <vector>

#include <bench/model/benchmark.hpp>

namespace bench::analyse {

using DerivedLevels = std::vector<std::vector<const model::Pattern*>>;

/// The patterns in levels: each needs only those of earlier levels. One name counts once. A name
/// that is put together from values (`${p$n}`) may be any derived pattern before it.
/// @throws Error with a place if patterns need each other
DerivedLevels levels_of(const std::vector<const model::Pattern*>& patterns);

}  // namespace bench::analyse
