// The clustering of AP6: memory banks, k-means, labels.

#include "ap6/clustering.hpp"
#include "ap6/network.hpp"
#include "steps/in_ranks.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace bench::ap6 {
namespace {

torch::Tensor integers(const std::vector<std::int64_t>& numbers) {
  return torch::tensor(numbers, torch::kLong);
}

/// Rows of length 1, at these angles in degrees: (n, 2).
torch::Tensor directions(const std::vector<double>& degrees) {
  const torch::Tensor angles = torch::tensor(degrees, torch::kDouble) * (std::acos(-1.0) / 180);
  return torch::stack({angles.cos(), angles.sin()}, 1);
}

Clusters clusters_of(const torch::Tensor& rows, const torch::Tensor& centroids, int iterations) {
  steps::Communicator alone;
  return spherical_k_means(rows, centroids, iterations, alone);
}

// The centroids at 0 and 50 degrees divide the rows between 20 and 30, those at 10 and 60 between
// 30 and 60. The mean of two rows is at the mean of their angles, that of 30, 60 and 90 at 60.
TEST(Ap6KMeans, MovesCentroidsToTheirRows) {
  const torch::Tensor rows = directions({0, 20, 30, 60, 90});
  const Clusters once = clusters_of(rows, directions({0, 50}), 1);
  EXPECT_TRUE(torch::allclose(once.centroids, directions({10, 60})));
  EXPECT_TRUE(torch::equal(once.labels, integers({0, 0, 0, 1, 1})));
  const Clusters twice = clusters_of(rows, directions({0, 50}), 2);
  const torch::Tensor first = directions({0, 20, 30}).sum(0);
  EXPECT_TRUE(torch::allclose(twice.centroids[0], first / first.norm()));
  EXPECT_TRUE(torch::allclose(twice.centroids[1], directions({75})[0]));
}

TEST(Ap6KMeans, WithoutIterationsOnlyAssigns) {
  const torch::Tensor centroids = directions({0, 50});
  const Clusters clusters = clusters_of(directions({20, 30, -100}), centroids, 0);
  EXPECT_TRUE(torch::equal(clusters.centroids, centroids));
  EXPECT_TRUE(torch::equal(clusters.labels, integers({0, 1, 0})));
}

TEST(Ap6KMeans, KeepsACentroidWithoutRows) {
  const Clusters clusters =
      clusters_of(directions({-10, 10, 80, 100}), directions({5, 200, 95}), 10);
  EXPECT_TRUE(torch::allclose(clusters.centroids, directions({0, 200, 90})));
  EXPECT_TRUE(torch::equal(clusters.labels, integers({0, 0, 2, 2})));
}

TEST(Ap6MemoryBank, KeepsTheNewestBatches) {
  MemoryBank bank({.batches = 2, .batch_size = 2, .crops = 2, .features = 3}, torch::kCPU);
  const auto batch = [](double begin) {  // (2, 2, 3)
    return torch::arange(begin, begin + 12, torch::kFloat).view({2, 2, 3});
  };
  bank.add(integers({4, 5}), batch(0));
  bank.add(integers({6, 7}), batch(100));
  bank.add(integers({8, 9}), batch(200));
  EXPECT_TRUE(torch::equal(bank.index(), integers({8, 9, 6, 7})));
  EXPECT_TRUE(torch::equal(bank.features(1), torch::tensor({{203.F, 204.F, 205.F},
                                                            {209.F, 210.F, 211.F},
                                                            {103.F, 104.F, 105.F},
                                                            {109.F, 110.F, 111.F}})));
}

/// Features around three directions, of which a head with three clusters finds each.
class Ap6ClusteringTest : public testing::Test {
 protected:
  static constexpr std::int64_t samples = 24;
  static constexpr std::int64_t batches = 4;
  static constexpr Heads heads{.count = 4, .clusters = 3};

  Ap6ClusteringTest() {
    torch::manual_seed(7);
    const torch::Tensor near =
        torch::eye(3, feature_count).index_select(0, torch::arange(samples) % 3);
    const torch::Tensor all = near.unsqueeze(1) + 0.02 * torch::randn({samples, 2, feature_count});
    features_ = all / all.norm(2, {2}, true);
    order_ = torch::randperm(samples, torch::kLong);
  }

  /// The bank of a rank after an epoch in which each rank had its share of each step.
  MemoryBank bank_of(const steps::Communicator& ranks) const {
    const std::int64_t own = samples / batches / ranks.size();
    MemoryBank bank({.batches = batches, .batch_size = own}, torch::kCPU);
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      const torch::Tensor index =
          order_.narrow(0, (batch * ranks.size() + ranks.rank()) * own, own);
      bank.add(index, features_.index_select(0, index));
    }
    return bank;
  }

  struct Result {
    torch::Tensor prototypes;
    torch::Tensor labels;
  };
  Result result(steps::Communicator& ranks, const Heads& of_heads = heads) const {
    Clustering clustering(of_heads, samples + 1, 5, ranks, torch::kCPU);
    Prototypes prototypes(of_heads);
    clustering.update(bank_of(ranks), prototypes);
    return {prototypes->weight.detach(), clustering.labels(torch::arange(samples + 1))};
  }

  torch::Tensor features_;  // (samples, 2, 128)
  torch::Tensor order_;     // of an epoch
};

TEST_F(Ap6ClusteringTest, GivesSamplesTheirNearestPrototypes) {
  steps::Communicator alone;
  const auto [prototypes, labels] = result(alone);
  for (std::int64_t head = 0; head < heads.count; ++head) {
    EXPECT_TRUE(torch::allclose(prototypes[head].norm(2, 1), torch::ones(heads.clusters)));
    const torch::Tensor scores = features_.select(1, head % 2).mm(prototypes[head].t());
    EXPECT_TRUE(torch::equal(labels[head].narrow(0, 0, samples), scores.argmax(1))) << head;
  }
}

TEST_F(Ap6ClusteringTest, KnowsNoClusterOfASampleThatIsInNoBank) {
  steps::Communicator alone;
  const torch::Tensor labels = result(alone).labels;
  EXPECT_TRUE(labels.select(1, samples).eq(no_label).all().item<bool>());
  EXPECT_TRUE(labels.narrow(1, 0, samples).ge(0).all().item<bool>());
}

// Heads 0 and 2 have the same features, and so have heads 1 and 3.
TEST_F(Ap6ClusteringTest, BeginsEachHeadWithOtherCentroids) {
  steps::Communicator alone;
  const torch::Tensor prototypes = result(alone, {.count = 4, .clusters = 12}).prototypes;
  EXPECT_FALSE(torch::allclose(prototypes[0], prototypes[2]));
  EXPECT_FALSE(torch::allclose(prototypes[1], prototypes[3]));
}

#ifdef BENCH_STEPS_GLOO
TEST_F(Ap6ClusteringTest, GivesTwoRanksTheCentroidsOfOne) {
  const Heads many{.count = 4, .clusters = 7};
  steps::Communicator alone;
  const Result expected = result(alone, many);
  steps::in_ranks(2, [&](steps::Communicator& ranks) {
    const Result found = result(ranks, many);
    EXPECT_TRUE(torch::allclose(found.prototypes, expected.prototypes, 1e-5, 1e-6));
    EXPECT_TRUE(torch::equal(found.labels, expected.labels));
  });
}
#endif

}  // namespace
}  // namespace bench::ap6
