#include "transformer/token_data.hpp"

#include "data/token_dataset.hpp"
#include "data/token_samples.hpp"
#include "harness/batches.hpp"
#include "harness/loader_options.hpp"
#include "harness/log.hpp"
#include "harness/session.hpp"
#include "transformer/decoder_sizes.hpp"
#include "transformer/grid.hpp"
#include "transformer/training_options.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

namespace bench::transformer {

using steps::log_value;

TokenData::TokenData(steps::Session& session, const TrainingOptions& options,
                     const DecoderSizes& sizes, std::int64_t kinds)
    : options_(options),
      sizes_(sizes),
      kinds_(kinds),
      device_(session.device()),
      threads_(steps::loader_threads(options.loader, session.find_ranks(), device_)) {
  if (options.data.path.empty())
    return;
  training_ = open(steps::Part::train);
  if (options.evaluation.interval > 0 || options.evaluation.epochs > 0)
    validation_ = open(steps::Part::validation);
}

TokenData::Samples TokenData::open(steps::Part part) const {
  return steps::open_token_samples(options_.data.path, options_.data.split, part,
                                   {.sequence = static_cast<std::uint64_t>(sizes_.sequence),
                                    .seed = options_.data.seed,
                                    .kinds = sizes_.vocabulary});
}

std::optional<std::uint64_t> TokenData::samples_of(const Samples& samples) {
  if (!samples)
    return std::nullopt;
  return samples->samples_per_epoch();
}

void TokenData::log() const {
  log_value("dataset", training_ ? options_.data.path : "synthetic");
  if (training_) {
    log_value("dataset_tokens", training_->tokens());
    log_value("dataset_samples", training_->samples_per_epoch());
  }
  if (validation_)
    log_value("evaluation_dataset_samples", validation_->samples_per_epoch());
  log_value("loader_threads", threads_);
  log_value("prefetch", options_.loader.prefetch);
}

std::unique_ptr<steps::Batches> TokenData::training(const Grid& grid,
                                                    std::int64_t first_sample) const {
  return batches(grid, training_, options_.common.seed,
                 {.share = {.batch_size = options_.micro_batch,
                            .micro_batches = options_.micro_batches(),
                            .rank = grid.data_rank(),
                            .ranks = options_.layout.data,
                            .first_sample = static_cast<std::uint64_t>(first_sample)},
                  .valid_batches = grid.stages() - grid.stage()});
}

std::unique_ptr<steps::Batches> TokenData::validation(const Grid& grid) const {
  return batches(grid, validation_, options_.common.seed + 1,
                 {.share = {.batch_size = options_.micro_batch,
                            .rank = grid.data_rank(),
                            .ranks = options_.layout.data}});
}

std::unique_ptr<steps::Batches> TokenData::batches(const Grid& grid, const Samples& samples,
                                                   std::uint64_t synthetic_seed,
                                                   const steps::BatchOptions& options) const {
  if (!grid.is_first_stage() && !grid.is_last_stage())
    return nullptr;
  steps::BatchOptions complete = options;
  complete.device = device_;
  complete.prefetch = options_.loader.prefetch;
  return std::make_unique<steps::LoadedBatches>(
      samples ? steps::token_makers(samples, threads_)
              : steps::synthetic_token_makers(synthetic_seed, std::min(kinds_, sizes_.vocabulary),
                                              sizes_.sequence, threads_),
      complete);
}

}  // namespace bench::transformer
