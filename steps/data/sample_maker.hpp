#pragma once

#include "data/fields.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace bench::steps {

/// Makes samples, numbered from 0 without end, on one thread; each thread has its own.
class SampleMaker {
 public:
  SampleMaker() = default;
  SampleMaker(const SampleMaker&) = delete;
  SampleMaker& operator=(const SampleMaker&) = delete;
  virtual ~SampleMaker() = default;

  /// Of each sample.
  virtual const std::vector<Field>& fields() const = 0;

  /// Samples after which the data begins again; empty where it never does.
  virtual std::optional<std::uint64_t> samples_per_epoch() const { return std::nullopt; }

  /// @param sample its number; the content depends on that alone, not on what was made before
  /// @param memory a span for each field, which is overwritten
  virtual void make(std::uint64_t sample, const FieldMemory& memory) = 0;
};

/// One for each thread, all of the same samples.
using SampleMakers = std::vector<std::unique_ptr<SampleMaker>>;

}  // namespace bench::steps
