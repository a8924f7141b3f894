#pragma once

#include "data/field_source.hpp"
#include "data/fields.hpp"
#include "harness/batches.hpp"
#include "harness/loader_options.hpp"
#include "harness/session.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace bench::steps {

/// Samples to train and to evaluate on: synthetic ones, or a data set in the folders `train` and
/// `validation` of `--data-path`.
class FieldData {
 public:
  /// @param fields that a data set must have
  /// @param synthetic_epoch samples of an epoch of synthetic samples, unless the user says
  FieldData(LoaderOptions options, SampleFormat format, const std::vector<Field>& fields,
            std::int64_t synthetic_epoch);

  bool is_synthetic() const { return options_.path.empty(); }

  /// MLPerf's runs begin without data in memory: with `--mllog`, drops what this node keeps of the
  /// files there, and prints `cache_clear`. The ranks of a node share the work. To be called before
  /// `Session::begin`.
  /// @throws UsageError if there are no files
  void clear_caches(Session& session) const;

  /// Opens the data set, prints what the samples are, and sets the length of an epoch. All ranks
  /// must call it.
  /// @param eval_samples of an evaluation; 0: the validation part may be absent
  /// @throws UsageError, DataError as `make_batches`, or if samples have other fields than the
  ///         program, or there are fewer than an evaluation needs
  void open(Session& session, std::int64_t eval_samples);

  /// Samples of an epoch: `--samples-per-epoch`, or all of the training part.
  std::int64_t epoch_samples() const { return epoch_samples_; }

  /// In another order in each epoch.
  Batches& training() const { return *training_; }

  /// Samples to evaluate on, from the first on, always in the same order. Synthetic ones are not
  /// those of the training.
  std::unique_ptr<Batches> validation_batches(Session& session) const;

 private:
  LoaderOptions part(const char* name) const;

  LoaderOptions options_;
  SampleFormat format_;
  std::int64_t epoch_samples_;
  std::unique_ptr<Batches> training_;
  std::shared_ptr<const FieldSource> validation_;  ///< Empty unless it is evaluated on.
};

}  // namespace bench::steps
