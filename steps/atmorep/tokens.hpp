#pragma once

#include "atmorep/sizes.hpp"
#include "harness/torch_all.hpp"

namespace bench::atmorep {

/// Cuts fields into tokens. Tokens are numbered by level, time, latitude and longitude, and so are
/// the grid points in a token.
/// @param fields (B, F, L, T, H, W)
/// @returns (F, B, N, points of a token), contiguous
torch::Tensor tokens_of(const torch::Tensor& fields, const Sizes& sizes);

/// What is added to the tokens of every field to tell their places, (N, width):
///
///     even columns   sin(8 w row) / 2 + sin(w time)
///     odd columns    cos(8 w column) / 2 + cos(w level),   w = 2 pi column of the pair / width
///
/// Source: Lessig et al., AtmoRep (arXiv:2308.13280), and its code (github.com/clessig/atmorep),
/// where rows are numbered modulo another number of columns.
torch::Tensor harmonic_positions(const Sizes& sizes);

}  // namespace bench::atmorep
