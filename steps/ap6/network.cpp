#include "ap6/network.hpp"

#include "ap6/data.hpp"
#include "data/random.hpp"
#include "data/sample_loader.hpp"
#include "harness/communicator.hpp"
#include "harness/cost.hpp"
#include "harness/loop.hpp"
#include "harness/optimizer.hpp"
#include "harness/rate_schedule.hpp"
#include "harness/trainer.hpp"
#include "vision/network/model.hpp"
#include "vision/network/tables.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench::ap6 {

namespace {

/// ResNet-50 for 25 channels, and a projection of two layers: (N, 25, h, w) -> (N, 128).
///
/// Sources: Caron et al., Unsupervised Learning of Visual Features by Contrasting Cluster
/// Assignments (arXiv:2006.09882), whose DeepCluster-v2 it is, with the stride of torchvision's
/// ResNet-50. The reference pads by 1 before a 7x7 convolution that pads by 2, which is the same as
/// padding by 3.
vision::Path encoder_layers() {
  constexpr std::int64_t hidden = 2048;
  vision::Path layers = vision::resnet(vision::ResidualBlock::bottleneck, {3, 4, 6, 3});
  const vision::Path projection = {vision::Linear{hidden}, vision::Normalisation{}, vision::Relu{},
                                   vision::Linear{feature_count}};
  layers.insert(layers.end(), projection.begin(), projection.end());
  return layers;
}

/// Of a crop.
vision::Shape encoder_input(const Grid& crop) {
  return {channel_count, crop.height, crop.width};
}

torch::Tensor nearest(const torch::Tensor& rows, const torch::Tensor& centroids) {
  return rows.mm(centroids.t()).argmax(1);
}

torch::Tensor moved(const torch::Tensor& centroids, const torch::Tensor& rows,
                    const torch::Tensor& labels, steps::Communicator& ranks) {
  // A product instead of additions by index, whose order a GPU does not keep.
  const torch::Tensor members =
      torch::one_hot(labels, centroids.size(0)).to(rows.scalar_type()).t();  // (clusters, n)
  const torch::Tensor sums =
      torch::cat({members.mm(rows), members.sum(1, /*keepdim=*/true)}, 1);  // (clusters, d + 1)
  ranks.all_reduce(sums).wait();
  const torch::Tensor counts = sums.narrow(1, rows.size(1), 1);
  const torch::Tensor means = sums.narrow(1, 0, rows.size(1)) / counts.clamp_min(1);
  namespace nn = torch::nn::functional;
  return nn::normalize(torch::where(counts > 0, means, centroids),
                       nn::NormalizeFuncOptions().dim(1));
}

/// Its own trainer counts no samples while they are frozen.
steps::TrainerOptions at_steps_of(const steps::Trainer& encoder, steps::TrainerOptions options) {
  options.learning_rate = [&encoder, rate = options.learning_rate](std::int64_t) {
    return rate(encoder.samples());
  };
  return options;
}

}  // namespace

PrototypesImpl::PrototypesImpl(const Heads& heads)
    : weight(register_parameter("weight",
                                torch::empty({heads.count, heads.clusters, feature_count}))) {
  const double bound =
      1 / std::sqrt(static_cast<double>(feature_count));  // as of torch::nn::Linear
  torch::nn::init::uniform_(weight, -bound, bound);
}

DeepClusterImpl::DeepClusterImpl(const Grid& crop, const Heads& heads)
    : encoder_(register_module("encoder", vision::Network(encoder_layers(), encoder_input(crop)))),
      prototypes_(register_module("prototypes", Prototypes(heads))) {}

void DeepClusterImpl::prepare(const torch::Device& device, steps::Communicator& ranks) {
  to(device);
  if (device.is_cuda())
    use_channels_last();
  vision::normalise_over_ranks(*encoder_, ranks);
}

void DeepClusterImpl::use_channels_last() {
  memory_format_ = torch::MemoryFormat::ChannelsLast;
  for (torch::Tensor& weight : encoder_->parameters())
    if (weight.dim() == 4)
      weight.set_data(weight.contiguous(memory_format_));
}

torch::Tensor DeepClusterImpl::features(const torch::Tensor& crops) {
  const torch::Tensor images = crops.flatten(0, 1).contiguous(memory_format_);  // (2 B, 25, h, w)
  const torch::Tensor projected = encoder_(images);                             // (2 B, 128)
  const torch::Tensor exact = projected.to(prototypes_->weight.scalar_type());
  namespace nn = torch::nn::functional;
  return nn::normalize(exact, nn::NormalizeFuncOptions().dim(1))
      .view({crops.size(0), crops.size(1), feature_count});
}

torch::Tensor cluster_loss(const torch::Tensor& features, const torch::Tensor& prototypes,
                           const torch::Tensor& labels) {
  const std::int64_t heads = prototypes.size(0);
  const torch::Tensor scores =
      features.matmul(prototypes.flatten(0, 1).t())
          .view({features.size(0), features.size(1), heads, -1});  // (B, C, heads, clusters)
  const torch::Tensor targets =
      labels.t().unsqueeze(1).expand({features.size(0), features.size(1), heads});
  const torch::Tensor sum = torch::cross_entropy_loss(
      scores.flatten(0, 2) / temperature, targets.reshape(-1), {}, at::Reduction::Sum, no_label);
  const torch::Tensor labelled = targets.ne(no_label).sum();
  return sum / labelled.clamp_min(1);
}

steps::Cost cost(const Grid& grid, const Heads& heads) {
  steps::Cost total = vision::count(encoder_layers(), encoder_input(crop_of(grid))).cost;
  return total.linear({.in = feature_count, .out = heads.count * heads.clusters, .bias = false})
      .applied(crop_count);
}

MemoryBank::MemoryBank(const BankSizes& sizes, const torch::Device& device)
    : sizes_(sizes),
      index_(torch::zeros(sizes.rows(), torch::TensorOptions(device).dtype(torch::kLong))),
      features_(torch::zeros({sizes.crops, sizes.rows(), sizes.features},
                             torch::TensorOptions(device))) {}

void MemoryBank::add(const torch::Tensor& index, const torch::Tensor& features) {
  const torch::NoGradGuard no_gradient;
  const std::int64_t row = oldest_ * sizes_.batch_size;
  index_.narrow(0, row, sizes_.batch_size).copy_(index);
  features_.narrow(1, row, sizes_.batch_size).copy_(features.transpose(0, 1));
  oldest_ = (oldest_ + 1) % sizes_.batches;
}

Clusters spherical_k_means(const torch::Tensor& rows, torch::Tensor centroids, int iterations,
                           steps::Communicator& ranks) {
  const torch::NoGradGuard no_gradient;
  for (int i = 0; i < iterations; ++i)
    centroids = moved(centroids, rows, nearest(rows, centroids), ranks);
  return {centroids, nearest(rows, centroids)};
}

Clustering::Clustering(const Heads& heads, std::int64_t samples, std::uint64_t seed,
                       steps::Communicator& ranks, const torch::Device& device)
    : heads_(heads),
      seed_(~seed),
      ranks_(ranks),
      labels_(torch::full({heads.count, samples}, no_label,
                          torch::TensorOptions(device).dtype(torch::kLong))) {}

void Clustering::update(const MemoryBank& bank, Prototypes& prototypes) {
  const torch::NoGradGuard no_gradient;
  std::vector<torch::Tensor> labels_of_heads;
  for (std::int64_t head = 0; head < heads_.count; ++head) {
    const std::int64_t crop = head % bank.sizes().crops;
    Clusters clusters =
        spherical_k_means(bank.features(crop), first_centroids(bank, crop), iterations, ranks_);
    prototypes->weight[head].copy_(clusters.centroids);
    labels_of_heads.push_back(std::move(clusters.labels));
  }
  set_labels(bank, labels_of_heads);
}

/// Features of different rows of all banks. Rows are numbered in the order of the batches of a
/// step, so their choice does not depend on the number of ranks.
torch::Tensor Clustering::first_centroids(const MemoryBank& bank, std::int64_t crop) {
  const std::int64_t batch_size = bank.sizes().batch_size;
  const std::int64_t ranks = ranks_.size();
  const std::vector<std::uint32_t> order =
      steps::permutation(static_cast<std::uint32_t>(ranks * bank.sizes().rows()),
                         steps::EpochOrder::stream(seed_, draws_++));
  std::vector<std::int64_t> rows;       // of this rank's bank
  std::vector<std::int64_t> centroids;  // that they become
  for (std::int64_t centroid = 0; centroid < heads_.clusters; ++centroid) {
    const auto number = static_cast<std::int64_t>(order.at(static_cast<std::size_t>(centroid)));
    const std::int64_t batch = number / batch_size;
    if (batch % ranks != ranks_.rank())
      continue;
    rows.push_back(batch / ranks * batch_size + number % batch_size);
    centroids.push_back(centroid);
  }
  const torch::Device device = labels_.device();
  const torch::Tensor features = bank.features(crop);
  const torch::Tensor chosen =
      torch::zeros({heads_.clusters, features.size(1)}, features.options());
  chosen.index_copy_(0, torch::tensor(centroids, torch::kLong).to(device),
                     features.index_select(0, torch::tensor(rows, torch::kLong).to(device)));
  ranks_.all_reduce(chosen).wait();
  return chosen;
}

void Clustering::set_labels(const MemoryBank& bank,
                            const std::vector<torch::Tensor>& labels_of_heads) {
  const torch::Tensor index = ranks_.all_gather(bank.index()).flatten();  // (ranks * rows)
  const torch::Tensor labels = ranks_.all_gather(torch::stack(labels_of_heads))
                                   .transpose(0, 1)
                                   .flatten(1);  // (heads, ranks * rows)
  labels_.fill_(no_label);
  labels_.index_copy_(1, index, labels);
}

steps::RateSchedule default_schedule() {
  return {.highest = 4.8,
          .warmup = 10,
          .first = 0.3,
          .shape = steps::RateSchedule::Shape::cosine,
          .lowest = 0.0048,
          .end = 50};
}

steps::TrainerOptions trainer_options(const steps::RateSchedule& schedule,
                                      std::int64_t samples_per_epoch, std::int64_t global_batch) {
  return {.optimizer = steps::make_sgd({.momentum = 0.9, .weight_decay = 1e-6}),
          .learning_rate = steps::rate_of(schedule, static_cast<double>(samples_per_epoch)),
          .global_batch = global_batch};
}

PrototypeTraining::PrototypeTraining(const steps::TrainingContext& context, Prototypes prototypes,
                                     const steps::TrainerOptions& options,
                                     const steps::Trainer& encoder, std::int64_t frozen_steps)
    : prototypes_(std::move(prototypes)),
      encoder_(encoder),
      frozen_steps_(frozen_steps),
      trainer_(context, *prototypes_, at_steps_of(encoder, options)) {}

void PrototypeTraining::update(steps::Loop& loop, const torch::Tensor& features,
                               const torch::Tensor& labels) {
  if (is_frozen())
    return;
  const torch::Tensor loss = cluster_loss(features.detach(), prototypes_->weight, labels);
  loop.backward([&] { trainer_.backward(loss); });
  loop.update(trainer_);
}

}  // namespace bench::ap6
