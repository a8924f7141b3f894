#pragma once

#include "harness/torch_all.hpp"

#include <cstdint>

namespace bench::ap2 {

/// Bucket of a distance between tokens, from -256 to 256: the distance itself up to 128, and
/// logarithmic beyond. Source: He et al., DeBERTaV3 (arXiv:2111.09543), section 2, and the code of
/// its authors, `make_log_bucket_position`.
std::int64_t position_bucket(std::int64_t distance);

/// For each query and key the row of the table of relative positions.
struct RelativePositions {
  torch::Tensor of_key;    ///< int64 (S, S), [query, key]: that of the key, seen from the query.
  torch::Tensor of_query;  ///< int64 (S, S), [key, query]: that of the query, seen from the key.
};

/// @param sequence S
RelativePositions relative_positions(std::int64_t sequence);

}  // namespace bench::ap2
