#pragma once

#include "atmorep/masking.hpp"
#include "harness/torch_all.hpp"

#include <vector>

namespace bench::atmorep {

/// Scalars. Means over the masked tokens of each sample, then over samples and fields.
struct Loss {
  torch::Tensor total;
  torch::Tensor squared_error;  ///< Of the ensemble's mean; no part of the total.
};

/// Half of the sum of two terms, for an observation y and an ensemble with mean m and standard
/// deviation s:
///
///     mean over the members x of (x - y)^2
///     (exp(-(y - m)^2 / (2 s^2)) - 1)^2 + sqrt(s)
///
/// The second one asks for an ensemble that contains the observation and is narrow, as the CRPS
/// does.
///
/// Source: Lessig et al., AtmoRep (arXiv:2308.13280), and its code (github.com/clessig/atmorep),
/// losses `mse_ensemble` and `stats`.
/// @param predicted of each field, (E, M, points), E at least 2
/// @returns in the precision of the targets: fp32 also with autocast
Loss loss_of(const std::vector<torch::Tensor>& predicted, const MaskedBatch& batch);

}  // namespace bench::atmorep
