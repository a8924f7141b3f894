#pragma once

#include "harness/communicator.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>

namespace bench::ap6 {

/// Clusters of rows.
struct Clusters {
  torch::Tensor centroids;  ///< (clusters, d), of length 1; the same on all ranks.
  torch::Tensor labels;     ///< (n) int64, the cluster of each row of this rank.
};

/// Spherical k-means over the rows of all ranks: a row belongs to the centroid with the largest
/// scalar product, and a centroid is the mean of its rows, brought to length 1. A centroid without
/// rows stays.
///
/// Source: Dhillon and Modha, Concept Decompositions for Large Sparse Text Data Using Clustering
/// (Machine Learning 42, 2001), section 3.
/// @param rows (n, d), of length 1; each rank has others, as many
/// @param centroids (clusters, d), of length 1, to begin with; the same on all ranks
/// @param iterations after which the rows are assigned once more
Clusters spherical_k_means(const torch::Tensor& rows, torch::Tensor centroids, int iterations,
                           steps::Communicator& ranks);

}  // namespace bench::ap6
