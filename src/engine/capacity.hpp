#pragma once

#include "job_script.hpp"

#include <optional>

#include <bench/engine/run.hpp>
#include <bench/schedule/slurm_partitions.hpp>

namespace bench::engine {

/// What the partition of a run's platform can take, as its batch system tells; asked when first
/// needed. Nothing is known of batch systems other than Slurm, and of one that does not answer.
class Capacity {
 public:
  explicit Capacity(const Run& run) : run_(run) {}

  /// @throws Error if there is no such partition, or it does not admit the account or the QOS
  void check_asking();
  /// @throws Error with `place` if the partition has no room for this however long it waits
  void check(const Geometry& geometry, const Place& place);

 private:
  const schedule::Partition* partition();

  const Run& run_;
};

}  // namespace bench::engine
